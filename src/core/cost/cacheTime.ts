import type { CacheTime } from '../context/measure/snapshot';
import { cacheMs } from './promptCache';
import type { PastRequest } from './usage';

/** What a token costs in fresh ones (Anthropic). */
const writing: Readonly<Record<CacheTime, number>> = { '5m': 1.25, '1h': 2 };
const reading = 0.1;

/** So many requests are looked at, and no decision rests on fewer pauses. */
export const pastRequests = 300;
const leastPauses = 20;
/** The longer time is paid for only where it would have saved this share: the past is no promise. */
const leastGain = 0.05;

/** What a policy does about a prompt that is not cached any more. */
export interface ColdRule {
  /** A prompt of so many tokens is folded. */
  readonly from: number;
  /** It comes down to about so many. */
  readonly to: number;
}

/**
 * The time that would have cost less for the newest requests of a person, played again with both: in a session, a request within the
 * time after the one before reads that prompt (0.1 per token) and writes what is new of its own; one that comes later writes all of it,
 * or, where the policy folds (`rule`), what that leaves, and has read the prompt once more for the summary. A token is written at 1.25
 * for five minutes and at 2 for an hour.
 *
 *   cost(t) = Σ  pause < t:  0.1 · before + w(t) · max(0, prompt − before)
 *                else:       w(t) · prompt,  or  w(t) · min(prompt, to) + 0.1 · before  from `from` tokens on
 */
export function cheaperTime(requests: readonly PastRequest[], rule: ColdRule | null): CacheTime {
  const last = new Map<string, PastRequest>();
  const cost = { '5m': 0, '1h': 0 };
  let pauses = 0;
  for (const request of requests) {
    const before = last.get(request.session);
    last.set(request.session, request);
    if (!before) continue;
    pauses++;
    cost['5m'] += costAfter(before, request, '5m', rule);
    cost['1h'] += costAfter(before, request, '1h', rule);
  }
  return pauses >= leastPauses && cost['1h'] < cost['5m'] * (1 - leastGain) ? '1h' : '5m';
}

function costAfter(before: PastRequest, { at, prompt }: PastRequest, time: CacheTime, rule: ColdRule | null): number {
  const read = reading * before.prompt;
  if (at - before.at < cacheMs[time]) return read + writing[time] * Math.max(0, prompt - before.prompt);
  if (!rule || prompt < rule.from) return writing[time] * prompt;
  return writing[time] * Math.min(prompt, rule.to) + read;
}
