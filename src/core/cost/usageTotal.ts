/** What requests to one model came to. */
export interface UsageTotal {
  readonly provider: string;
  readonly model: string;
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of those requests whose cost is known; null when none is. */
  readonly cost: number | null;
  /** Of unknown price; counting is free. */
  readonly requestsWithoutCost: number;
  /** Whose tokens, and with them the cost, are our estimate. */
  readonly requestsEstimated: number;
}

export interface UsageQuery {
  readonly session?: string;
  /** Milliseconds since the epoch, both included. */
  readonly from?: number;
  readonly to?: number;
}
