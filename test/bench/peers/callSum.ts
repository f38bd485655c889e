import type { RecordedRequest } from '../../support/messagesApi/messagesApiExchange';
import type { WireUsage } from '../../support/messagesApi/messagesApiWire';

/** What requests of one kind were charged for, in tokens. */
export interface CallSum {
  requests: number;
  fresh: number;
  /** What was written to the cache, and what of that for an hour. */
  written: number;
  hour: number;
  read: number;
}

export const noCalls: CallSum = { requests: 0, fresh: 0, written: 0, hour: 0, read: 0 };

/** Fresh 1, written for five minutes 1.25, for an hour 2, read 0.1. */
export function costOf({ fresh, written, hour, read }: Omit<CallSum, 'requests'>): number {
  return fresh + 1.25 * (written - hour) + 2 * hour + 0.1 * read;
}

export function sumOf(requests: readonly RecordedRequest[]): CallSum {
  return requests.reduce((sum, { usage }) => (usage ? added(sum, usage) : sum), noCalls);
}

export function added(sum: CallSum, usage: WireUsage): CallSum {
  return {
    requests: sum.requests + 1,
    fresh: sum.fresh + usage.input_tokens,
    written: sum.written + usage.cache_creation_input_tokens,
    hour: sum.hour + usage.cache_creation.ephemeral_1h_input_tokens,
    read: sum.read + usage.cache_read_input_tokens,
  };
}
