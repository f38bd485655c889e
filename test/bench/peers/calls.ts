import type { RecordedRequest } from '../../support/messagesApi/messagesApiExchange';
import { added, costOf, noCalls, type CallSum } from './callSum';
import { check, isTurn, thousands, type BenchRow } from './driver';

/**
 * Accepted requests by what they were for. A turn that writes more than the one before it left and it adds has had its prefix
 * changed: those are told apart, because they are what a compaction costs afterwards.
 */
export function callSums(requests: readonly RecordedRequest[]): ReadonlyMap<string, CallSum> {
  const sums = new Map<string, CallSum>();
  let readable = 0;
  for (const { body, usage } of requests) {
    if (!usage) continue;
    const { cache_creation_input_tokens: written, cache_read_input_tokens: read } = usage;
    const turn = isTurn(body);
    const kind = turn ? (read < readable ? 'turn behind a changed prefix' : 'turn') : kindOf(body);
    if (turn) readable = written + read;
    sums.set(kind, added(sums.get(kind) ?? noCalls, usage));
  }
  return sums;
}

/** One row per kind: nothing has to hold for them, they say where the cost of the scenario lies. */
export function callRows(scenario: string, requests: readonly RecordedRequest[]): BenchRow[] {
  const rows = [...callSums(requests)].sort(([, a], [, b]) => costOf(b) - costOf(a));
  return rows.map(([kind, sum]) =>
    check(
      `${scenario}: ${kind}`,
      `${sum.requests} calls, fresh ${thousands(sum.fresh)}, written ${thousands(sum.written)}, read ${thousands(sum.read)}: ${thousands(costOf(sum))} cost units`,
      '',
      true,
    ),
  );
}

/** What asked for it, and whether it read the conversation's own prompt or a transcript. */
function kindOf(body: unknown): string {
  const { system, messages } = body as { readonly system?: unknown; readonly messages?: readonly unknown[] };
  const last = JSON.stringify(messages?.at(-1) ?? '');
  const goesOn = /<threadkeeper-notice-\d+ kind=\\"compression\\">/.test(last);
  const orders = goesOn ? last : JSON.stringify(system ?? '');
  const kind = last.includes('This summary of a conversation is not good enough')
    ? 'repair'
    : orders.includes('checkpoint summary')
      ? 'checkpoint'
      : 'summary';
  return `${kind}, ${goesOn ? 'in the prompt' : 'by transcript'}`;
}
