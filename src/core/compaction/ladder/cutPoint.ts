import { isUserMessage, type StoredEntry } from '../../session/entry';
import type { Keep } from '../../context/policy/policy';
import { leftOutEntries, verbatimEntries } from '../../session/liveCompaction';

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
  /** What the policy keeps; null = nothing but what waits for an answer. */
  readonly keep: Keep | null;
  /** However much the policy would keep, no more than this many tokens. */
  readonly tokens: number;
  readonly tokensOf: (entry: StoredEntry) => number;
}

/**
 * Where to fold: in front of the newest messages that the policy keeps and that fit `tokens`, always keeping the latest user
 * message; inside the last turn only when that turn alone is too large, and then in front of a model step, so that a call is never
 * parted from its result. Null when there is nothing in front of the cut.
 */
export function cutPoint(entries: readonly StoredEntry[], { keep, tokens, tokensOf }: CutLimits): Cut | null {
  const live = sentEntries(entries);
  const lastTurn = live.findLastIndex(isUserMessage);
  if (keep === null) {
    const isAnswered = live.length > 0 && isAssistantBlock(live.at(-1)!) && live.at(-1)!.content.type !== 'tool_call';
    if (isAnswered) return cutAt(live, live.length, null);
    // A message that stands alone stays; of a turn that has begun the request is carried.
    return lastTurn === live.length - 1 ? cutAt(live, lastTurn, null) : cutAt(live, live.length, entries.findLast(isUserMessage) ?? null);
  }
  const sizeFrom = suffixSums(live, tokensOf);
  // A second cut inside of one turn: its request is in the state already, and has to be carried on.
  if (lastTurn === -1) return cutAtStep(live, 0, { sizeFrom, tokens, request: entries.findLast(isUserMessage) ?? null });

  const wanted = Math.min(firstWanted(live, keep), lastTurn);
  const isBoundary =
    keep.userTurns === undefined
      ? (index: number) => isUserMessage(live[index]!) || isStepStart(live, index)
      : (index: number) => isUserMessage(live[index]!);
  for (let start = wanted; start <= lastTurn; start++) if (isBoundary(start) && sizeFrom[start]! <= tokens) return cutAt(live, start, null);

  return cutAtStep(live, lastTurn, { sizeFrom, tokens, request: live[lastTurn]! }) ?? cutAt(live, lastTurn, null);
}

/** In front of the first model step behind `after` from which on everything fits, or of the last one. Null when there is none. */
function cutAtStep(
  live: readonly StoredEntry[],
  after: number,
  { sizeFrom, tokens, request }: { readonly sizeFrom: readonly number[]; readonly tokens: number; readonly request: StoredEntry | null },
): Cut | null {
  const steps = live.flatMap((_, index) => (index > after && isStepStart(live, index) ? [index] : []));
  const step = steps.find((start) => sizeFrom[start]! <= tokens) ?? steps.at(-1);
  return step === undefined ? null : cutAt(live, step, request);
}

/** Messages that are sent verbatim, as policies count them: the user's, each step of the assistant, each tool result. */
export function countMessages(entries: readonly StoredEntry[]): number {
  return countSent(sentEntries(entries));
}

/** The same of entries that are known to be sent. */
export function countSent(live: readonly StoredEntry[]): number {
  return messageStarts(live).length;
}

/** Entries of the verbatim part that the model is sent. */
export function sentEntries(entries: readonly StoredEntry[]): StoredEntry[] {
  const leftOut = leftOutEntries(entries);
  return verbatimEntries(entries).filter((entry) => entry.modelFacing && !leftOut.has(entry.uuid));
}

/** Index of the first entry that the policy would keep, moved back to where its message, or the calls it answers, begin. */
function firstWanted(live: readonly StoredEntry[], keep: Keep): number {
  const starts = messageStarts(live);
  const newest = (count: number) => {
    let index = starts[Math.max(0, starts.length - count)] ?? 0;
    while (index > 0 && !isUserMessage(live[index]!) && !isStepStart(live, index)) index--;
    return index;
  };
  if (keep.messages !== undefined) return newest(keep.messages);
  if (keep.percentOfMessages !== undefined)
    return newest(Math.max(keep.minMessages ?? 0, Math.ceil(keep.percentOfMessages * starts.length)));
  if (keep.userTurns !== undefined) return live.flatMap((entry, index) => (isUserMessage(entry) ? [index] : [])).at(-keep.userTurns) ?? 0;
  return 0;
}

function messageStarts(live: readonly StoredEntry[]): number[] {
  return live.flatMap((entry, index) =>
    isUserMessage(entry) || entry.content.type === 'tool_result' || isStepStart(live, index) ? [index] : [],
  );
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

/** A model step starts where an assistant block follows something that is not one. */
function isStepStart(entries: readonly StoredEntry[], index: number): boolean {
  return isAssistantBlock(entries[index]!) && (index === 0 || !isAssistantBlock(entries[index - 1]!));
}

function isAssistantBlock({ content }: StoredEntry): boolean {
  return content.type === 'thinking' || content.type === 'tool_call' || (content.type === 'message' && content.role === 'assistant');
}
