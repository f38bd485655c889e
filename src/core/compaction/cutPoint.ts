import type { StoredEntry } from '../session/entry';
import { discardedEntries, verbatimEntries } from '../session/liveCompaction';

export interface Cut {
  /** Model-facing entries that are folded, oldest first. */
  readonly folded: readonly StoredEntry[];
  /** First entry that stays verbatim; null = nothing before the record stays. */
  readonly firstKept: StoredEntry | null;
  readonly kept: readonly StoredEntry[];
  /** The request that is being worked on when the cut had to fall inside its turn: it has to be carried verbatim. */
  readonly currentRequest: StoredEntry | null;
}

export interface CutLimits {
  readonly userTurns: number;
  readonly tokens: number;
  readonly tokensOf: (entry: StoredEntry) => number;
}

/**
 * Where to fold: in front of the newest user turns that fit `tokens` (at most `userTurns`), always keeping the latest user
 * message; inside the last turn only when that turn alone is too large, and then in front of a model step, so that a call is never
 * parted from its result. Null when there is nothing in front of the cut.
 */
export function cutPoint(entries: readonly StoredEntry[], limits: CutLimits): Cut | null {
  const discarded = discardedEntries(entries);
  const live = verbatimEntries(entries).filter((entry) => entry.modelFacing && !discarded.has(entry.uuid));
  const turnStarts = live.flatMap((entry, index) => (isUserMessage(entry) ? [index] : []));
  const sizeFrom = suffixSums(live, limits.tokensOf);

  const fitting = turnStarts.slice(-limits.userTurns).find((start) => sizeFrom[start]! <= limits.tokens);
  const lastTurn = turnStarts.at(-1);
  if (limits.userTurns > 0 && fitting !== undefined) return cutAt(live, fitting, null);
  if (limits.userTurns === 0 || lastTurn === undefined) return live.length > 0 ? cutAt(live, live.length, null) : null;

  const steps = live.flatMap((entry, index) => (index > lastTurn && isStepStart(live, index) ? [index] : []));
  const step = steps.find((start) => sizeFrom[start]! <= limits.tokens) ?? steps.at(-1);
  return step === undefined ? cutAt(live, lastTurn, null) : cutAt(live, step, live[lastTurn]!);
}

function cutAt(live: readonly StoredEntry[], index: number, currentRequest: StoredEntry | null): Cut | null {
  if (index === 0) return null;
  return { folded: live.slice(0, index), firstKept: live[index] ?? null, kept: live.slice(index), currentRequest };
}

function suffixSums(entries: readonly StoredEntry[], tokensOf: (entry: StoredEntry) => number): number[] {
  const sums = new Array<number>(entries.length + 1).fill(0);
  for (let i = entries.length - 1; i >= 0; i--) sums[i] = sums[i + 1]! + tokensOf(entries[i]!);
  return sums;
}

export function isUserMessage(entry: StoredEntry): boolean {
  return entry.content.type === 'message' && entry.content.role === 'user';
}

/** A model step starts where an assistant block follows something that is not one. */
function isStepStart(entries: readonly StoredEntry[], index: number): boolean {
  return isAssistantBlock(entries[index]!) && !isAssistantBlock(entries[index - 1]!);
}

function isAssistantBlock({ content }: StoredEntry): boolean {
  return content.type === 'thinking' || content.type === 'tool_call' || (content.type === 'message' && content.role === 'assistant');
}
