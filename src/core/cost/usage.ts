export interface UsageRecord {
  /** The entry the request led to, the compaction it was made for, or, for `count`, the leaf of the branch that was counted. */
  readonly entry: string;
  readonly provider: string;
  readonly model: string;
  /**
   * `failed`: a turn's request that was stopped or broke off; it measures no context. `imported`: another program's request, whose prompt
   * was not ours. `aside`: of a side question, which has a prompt of its own.
   */
  readonly kind: 'turn' | 'compaction' | 'count' | 'failed' | 'imported' | 'aside';
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of `cacheWrite`, what was written to be kept for an hour. Omitted: nothing. */
  readonly cacheWriteHour?: number;
  /** The tokens are our estimate: the provider has reported none. */
  readonly estimated?: true;
  readonly cost: number | null;
  readonly at: number;
}

/** What requests to one model came to. */
export interface UsageTotal {
  readonly provider: string;
  readonly model: string;
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Requests whose cost is not known are left out; null when none is known. */
  readonly cost: number | null;
  /** Their price is unknown; counting is free. */
  readonly requestsWithoutCost: number;
  /** The tokens of these requests, and with them the cost, are our estimate. */
  readonly requestsEstimated: number;
}

export interface UsageQuery {
  /** Without what other programs have asked: their requests were imported. */
  readonly own?: true;
  readonly session?: string;
  /** Milliseconds since the epoch, both included. */
  readonly from?: number;
  readonly to?: number;
}

/** One of the requests from which a person's rhythm is known. */
export interface PastRequest {
  readonly session: string;
  readonly at: number;
  /** Tokens of its prompt. */
  readonly prompt: number;
}

/** So many of each model's turns, and of its summaries, tell what a provider still has of a prompt. */
export const mostRequests = 12;

/**
 * The newest of each model and purpose, in their order: a small summariser that needs many requests does not push out the turns of the
 * session's own model.
 */
export function newestRequests(requests: readonly UsageRecord[]): readonly UsageRecord[] {
  const counts = new Map<string, number>();
  const isNewest = ({ provider, model, kind }: UsageRecord) => {
    const key = JSON.stringify([provider, model, kind === 'compaction']);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count <= mostRequests;
  };
  return requests.toReversed().filter(isNewest).reverse();
}
