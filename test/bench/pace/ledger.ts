import type { RecordedRequest } from '../../support/messagesApi/messagesApiExchange';
import type { WireUsage } from '../../support/messagesApi/messagesApiWire';
import { costOf, sumOf } from '../peers/callSum';
import { isTurn } from '../peers/driver';
import type { Fact } from '../corpus';
import type { Announced } from './paceRig';

/** A pause longer than the shorter of the two times that a prompt is cached. */
export const coldPauseMs = 5 * 60_000;

export interface ColdReturn {
  /** Prompt tokens that the first request of the turn wrote or sent anew. */
  readonly written: number;
  readonly cost: number;
  /** Requests for a summary from the message on until its first request for an answer had been sent. */
  readonly summaries: number;
}

/** What the first message after each pause that empties the cache has cost; `sent` are the times at which messages were sent. */
export function coldReturns(
  requests: readonly RecordedRequest[],
  sent: readonly { readonly at: number; readonly pause: number }[],
): ColdReturn[] {
  return sent
    .filter(({ pause }) => pause > coldPauseMs)
    .flatMap(({ at }) => {
      const later = requests.filter((request) => request.at >= at && request.usage);
      const first = later.findIndex(({ body }) => isTurn(body));
      const usage = later[first]?.usage;
      if (!usage) return [];
      return [{ written: usage.input_tokens + usage.cache_creation_input_tokens, cost: unitsOf(usage), summaries: first }];
    });
}

/** Requests of turns that read less than the one before had left, while the cache was warm: something in front had changed. */
export function prefixBreaks(requests: readonly RecordedRequest[]): number {
  let breaks = 0;
  let [readable, at] = [0, 0];
  for (const { body, usage, at: now } of requests) {
    if (!usage || !isTurn(body)) continue;
    if (usage.cache_read_input_tokens < readable && now - at < coldPauseMs) breaks++;
    readable = usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
    at = now;
  }
  return breaks;
}

/** How far off the announced prices were, as shares of what was charged, the smallest first. */
export function priceErrors(requests: readonly RecordedRequest[], announced: readonly Announced[]): number[] {
  return announced
    .flatMap(({ requests: before, price: { read, written, fresh } }) => {
      const usage = requests.slice(before).find(({ body, usage }) => usage && isTurn(body))?.usage;
      if (!usage) return [];
      const said = costOf({ read, written, fresh, hour: 0 });
      return [Math.abs(said / unitsOf(usage) - 1)];
    })
    .sort((a, b) => a - b);
}

/** Facts that stand neither in the last prompt nor in anything that a summariser was ever shown. */
export function unseenFacts(requests: readonly RecordedRequest[], facts: readonly Fact[]): Fact[] {
  const last = requests.findLast(({ body }) => isTurn(body));
  const shown = requests.filter((request) => request === last || (request.usage && !isTurn(request.body)));
  const texts = shown.map(({ body }) => JSON.stringify(body));
  return facts.filter(({ answer }) => !texts.some((text) => text.includes(answer)));
}

export function factsInLast(requests: readonly RecordedRequest[], facts: readonly Fact[]): number {
  const last = JSON.stringify(requests.findLast(({ body }) => isTurn(body))?.body ?? null);
  return facts.filter(({ answer }) => last.includes(answer)).length;
}

function unitsOf(usage: WireUsage): number {
  return costOf({
    fresh: usage.input_tokens,
    written: usage.cache_creation_input_tokens,
    hour: usage.cache_creation.ephemeral_1h_input_tokens,
    read: usage.cache_read_input_tokens,
  });
}

export function totalCost(requests: readonly RecordedRequest[]): number {
  return costOf(sumOf(requests));
}
