import type { ModelFailure, ModelFailureReason } from '../../models/modelEvent';

const retryable: ReadonlySet<ModelFailureReason> = new Set(['network', 'overloaded', 'rate_limited', 'server']);

/** Longest wait asked for by `retry-after` that is worth keeping a turn open for. */
const longestWaitMs = 60_000;

/** An immutable value: how often a failed request has been tried, and when to try it next. */
export class RetryPolicy {
  constructor(
    private readonly limit = 4,
    private readonly baseMs = 1_000,
    readonly attempt = 0,
  ) {}

  /**
   * The wait before the next attempt: the provider's `retry-after`, else exponential (base, 2×, 4× …) with the given jitter
   * (0–1) on top. Null when the failure will not go away by waiting, or the tries are used up.
   */
  next(failure: ModelFailure, jitter: number): { readonly delayMs: number; readonly policy: RetryPolicy } | null {
    if (!retryable.has(failure.reason) || this.attempt >= this.limit) return null;
    if ((failure.retryAfterMs ?? 0) > longestWaitMs) return null;
    const delayMs = failure.retryAfterMs ?? Math.round(this.baseMs * 2 ** this.attempt * (1 + jitter / 4));
    return { delayMs, policy: new RetryPolicy(this.limit, this.baseMs, this.attempt + 1) };
  }
}
