import type { ModelBlock } from './modelRequest';

export type ModelEvent =
  | { readonly type: 'text_delta'; readonly index: number; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly index: number; readonly text: string }
  /** A block is complete, in order of `index`. */
  | { readonly type: 'block'; readonly index: number; readonly block: ModelBlock }
  /** Cumulative for the request: overwrite, never add. */
  | { readonly type: 'usage'; readonly usage: TokenUsage }
  | { readonly type: 'stopped'; readonly reason: string }
  | { readonly type: 'failed'; readonly failure: ModelFailure };

export interface ModelFailure {
  readonly reason: ModelFailureReason;
  /** The provider's own words, without secrets. */
  readonly detail: string;
  readonly status?: number;
  /** `retry-after` says it; here in milliseconds. */
  readonly retryAfterMs?: number;
  /** An `overflow` may have the window that the provider names, in tokens. */
  readonly window?: number;
}

export type ModelFailureReason =
  | 'no_key'
  | 'bad_key'
  | 'network'
  | 'overloaded'
  | 'rate_limited'
  | 'server'
  | 'overflow'
  | 'unknown_model'
  | 'invalid_request'
  | 'refused'
  /** The request was sent on to a server that the user has not named (`detail` says it in full). */
  | 'redirected'
  /**
   * Used up at the provider, or the user's own limit of a day or of the session (`detail` says it in full): waiting a little does not help.
   */
  | ('quota' | OwnLimit)
  | 'cancelled';

/** Limits that the user has set: nothing was asked of a provider. */
export type OwnLimit = 'budget' | 'cost_limit';

export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Of `cacheWrite`, what was written to be kept for an hour, which costs more. Omitted: nothing. */
  readonly cacheWriteHour?: number;
  /** Ours, because the provider has reported none: it measures nothing. */
  readonly estimated?: true;
}

/** A model call that failed where there is no event stream to say so. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  constructor(readonly failure: ModelFailure) {
    super(failure.detail);
  }
  static is(error: unknown): error is ModelError {
    return error instanceof ModelError;
  }
}
