import { isUserMessage, type StoredEntry } from '../../session/entry';
import { leftOutEntries, liveCompaction, verbatimEntries } from '../../session/liveCompaction';

export interface MaskLimits {
  /** Newest tool results that stay, in tokens. */
  readonly protectTokens: number;
  readonly protectUserTurns: number;
  /** A batch that gains less is not worth the prompt cache it costs. */
  readonly minGain: number;
  readonly tokensOf: (entry: StoredEntry) => number;
  /** A summary has been written of these while they stood in the prompt: only they become stubs. */
  readonly isTold: (entry: StoredEntry) => boolean;
}

export interface MaskPlan {
  /** Every result that is a stub from now on, those of an earlier batch included. */
  readonly masked: readonly string[];
  /** Tokens that this batch takes out of the prompt. */
  readonly gain: number;
}

/** About what a stub takes (projection.ts). */
export const stubTokens = 46;

/**
 * One batch of old tool results that become stubs; null when it would not gain enough. In one batch and not a little at every
 * request: on a real session of 484 requests with a window of 100k, rolling masking cost 2.8 times as much in cache-priced tokens.
 */
export function maskPlan(entries: readonly StoredEntry[], limits: MaskLimits): MaskPlan | null {
  const before = maskedEntries(entries);
  const leftOut = leftOutEntries(entries);
  const live = verbatimEntries(entries).filter((entry) => entry.modelFacing && !leftOut.has(entry.uuid) && !before.has(entry.uuid));
  const { fresh, gain } = newStubs(live, limits);
  return gain < limits.minGain || gain <= 0 ? null : { masked: [...before, ...fresh], gain };
}

/** The results among entries that are sent which can be stubs from now on, oldest first. */
export function newStubs(
  live: readonly StoredEntry[],
  { protectTokens, protectUserTurns, tokensOf, isTold }: Omit<MaskLimits, 'minGain'>,
): { readonly fresh: readonly string[]; readonly gain: number } {
  const turns = live.flatMap((entry, index) => (isUserMessage(entry) ? [index] : []));
  const end = protectUserTurns === 0 ? live.length : (turns.at(-protectUserTurns) ?? 0);
  const fresh: string[] = [];
  let gain = 0;
  let newer = 0;
  for (let i = live.length - 1; i >= 0; i--) {
    const entry = live[i]!;
    if (entry.content.type !== 'tool_result') continue;
    const tokens = tokensOf(entry);
    newer += tokens;
    if (i >= end || newer <= protectTokens || tokens <= 2 * stubTokens || !isTold(entry)) continue;
    fresh.push(entry.uuid);
    gain += tokens - stubTokens;
  }
  return { fresh: fresh.reverse(), gain };
}

/** Results whose stubs are enough for whoever writes the next summary: the state in front of them tells of them. */
export function toldStubs(entries: readonly StoredEntry[]): ReadonlySet<string> {
  const live = liveCompaction(entries)?.content;
  return new Set(live?.maskedTold ? live.masked : []);
}

/** Tool results that the projection shows as stubs. */
export function maskedEntries(entries: readonly StoredEntry[]): ReadonlySet<string> {
  return new Set(liveCompaction(entries)?.content.masked ?? []);
}

/** The policy's figures are for a window of 200,000. */
export function scaledToWindow(tokens: number, effective: number): number {
  return Math.min(tokens, Math.floor((tokens / 200_000) * effective));
}
