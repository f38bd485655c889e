import type { ModelFailure, ModelFailureReason } from '../../models/modelEvent';
import { StoreError, errorText } from '../../errors';
import { english } from '../../l10n';
import type { TurnError } from '../events';

/** A failed model call in words that say what to do, after so many attempts. The provider's own words stand beside it where they help. */
export function modelTurnError(failure: ModelFailure, model: string, attempts = 1): TurnError {
  const { reason, detail } = failure;
  return { reason, message: explanation(failure, model, attempts), ...(detail && saysMore.has(reason) ? { detail } : {}) };
}

/** The same where the message is on disk: it need not be written again. */
export function savedTurnError(failure: ModelFailure, model: string, attempts = 1): TurnError {
  const { message, ...error } = modelTurnError(failure, model, attempts);
  return { message: saysSaved.has(failure.reason) ? english('{0} Your message is saved.', message) : message, ...error };
}

/** An error in one text, where it has one place only. */
export function wholeError({ message, detail }: Pick<TurnError, 'message' | 'detail'>): string {
  return detail ? english('{0} The provider says: {1}', message, detail) : message;
}

/** Where the provider's own words help. */
const saysMore: ReadonlySet<ModelFailure['reason']> = new Set([
  'bad_key',
  'network',
  'overloaded',
  'rate_limited',
  'server',
  'overflow',
  'unknown_model',
  'refused',
  'quota',
  'invalid_request',
]);

/** After which the same message may be sent again. */
const saysSaved: ReadonlySet<ModelFailure['reason']> = new Set([
  'bad_key',
  'network',
  'overloaded',
  'rate_limited',
  'server',
  'unknown_model',
  'quota',
]);

function explanation(failure: ModelFailure, model: string, attempts: number): string {
  switch (failure.reason) {
    case 'no_key':
      return english('There is no API key. Set one with “Threadkeeper: Set API Key…”, or go on in offline mode.');
    case 'bad_key':
      return english('The API key was refused. Set a valid one with “Threadkeeper: Set API Key…”.');
    case 'network':
      return attempts > 1
        ? english('The connection failed {0} times. Check your network, then try again.', attempts)
        : english('The connection failed. Check your network, then try again.');
    case 'overloaded':
      return english('The model is overloaded. Try again in a while.');
    case 'rate_limited':
      return failure.retryAfterMs
        ? english('The provider limits how much you may send for another {0} s. Try again later.', Math.ceil(failure.retryAfterMs / 1000))
        : english('The provider limits how much you may send. Try again later.');
    case 'server':
      return english('The provider had an error. Try again.');
    case 'overflow':
      return english(
        "The conversation does not fit the model's window, with everything compacted that can be. Shorten the last message, or start a new session.",
      );
    case 'unknown_model':
      return model
        ? english('The provider does not know the model “{0}”. Choose another with “Threadkeeper: Select Model…”.', model)
        : english('The provider does not know the model. Choose another with “Threadkeeper: Select Model…”.');
    case 'refused':
      return english('The model declined to answer this. Rephrase the message, or choose another model.');
    case 'quota':
      return english('What you may use at the provider is used up. Add credit or wait for the next period, or choose another model.');
    case 'budget':
    case 'cost_limit':
    case 'redirected':
      return failure.detail;
    case 'invalid_request':
      return english('The provider did not accept the request.');
    case 'cancelled':
      return english('Stopped.');
  }
}

/** `saved`: the user's message is on disk, and what failed came after it. */
export function storeTurnError(error: unknown, saved = false): TurnError {
  if (!StoreError.is(error))
    return {
      reason: 'internal',
      message: english('Something went wrong inside Threadkeeper: {0} (details in “Threadkeeper: Show Log”).', errorText(error)),
    };
  const store = (message: string): TurnError => ({ reason: 'store', message });
  switch (error.reason) {
    case 'readonly':
      return store(
        english('The history is read-only in this window because another window is using it. Nothing was sent; your text is still here.'),
      );
    case 'disk_full':
      return store(
        saved
          ? english('The disk is full. Your message is saved, what came after it could not be. Free some space and try again.')
          : english('The disk is full, so the message could not be saved and was not sent. Free some space and send it again.'),
      );
    case 'permission':
      return store(
        english(
          saved
            ? 'The history file may not be written, so the answer was not saved; your message is. {0}'
            : 'The history file may not be written, so the message was not sent. {0}',
          error.message,
        ),
      );
    case 'conflict':
      return store(
        english(
          saved
            ? 'Another window has changed this session in the meantime. Your message is saved; try again to get an answer.'
            : 'Another window has changed this session in the meantime. The message was not sent; send it again.',
        ),
      );
    case 'lease_lost':
      return store(english('Another window has taken over this history. Reload this window to continue; nothing of it is lost.'));
    case 'corrupt':
    case 'newer_schema':
    case 'invalid':
    case 'closed':
    case 'io':
      return store(
        english(
          saved
            ? 'The history could not be written, so nothing more was saved. {0}'
            : 'The history could not be written, so nothing more was sent. {0}',
          error.message,
        ),
      );
  }
}

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
