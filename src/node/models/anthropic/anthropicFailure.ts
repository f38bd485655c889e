import { APIConnectionError, APIError, APIUserAbortError } from '@anthropic-ai/sdk';
import type { ModelFailure, ModelFailureReason } from '../../../core/models/modelEvent';
import {
  contextLimitOf,
  isContextOverflow,
  bodyText,
  cameFromNetwork,
  longestDetail,
  plainText,
  thrownText,
  wasAborted,
} from '../failureText';
import { redactedHead } from '../../../core/redaction/redactText';
import { retryAfterMs } from '../httpFailure';
import { wasRedirected } from '../sameOriginFetch';

const reasonsByType: Readonly<Record<string, ModelFailureReason>> = {
  authentication_error: 'bad_key',
  permission_error: 'bad_key',
  rate_limit_error: 'rate_limited',
  overloaded_error: 'overloaded',
  request_too_large: 'overflow',
  not_found_error: 'unknown_model',
  api_error: 'server',
  timeout_error: 'server',
  billing_error: 'quota',
};

/** Without credit the API answers 400 `invalid_request_error`, whatever was asked, so that only its words tell. */
const withoutCredit = /\bcredit balance is too low\b/i;

/**
 * What went wrong, for whatever the SDK, `fetch` or the stream threw. Never throws. `secrets` are left out of the detail.
 * An abort is `cancelled` here; whether it was the user or a timeout only the caller knows.
 */
export function anthropicFailure(error: unknown, secrets: readonly string[], now: number): ModelFailure {
  const detail = redactedHead(detailOf(error), longestDetail, secrets);
  if (wasStopped(error)) return { reason: 'cancelled', detail };
  if (wasRedirected(error)) return { reason: 'redirected', detail };
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    const status: number | undefined = error.status;
    const wait = retryAfterMs(error.headers, now);
    const reason = reasonOf(status, error.type, detail);
    const window = reason === 'overflow' ? contextLimitOf(detail) : undefined;
    return {
      reason,
      detail,
      ...(status === undefined ? {} : { status }),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
      ...(window === undefined ? {} : { window }),
    };
  }
  return { reason: error instanceof APIConnectionError || cameFromNetwork(error) ? 'network' : 'invalid_request', detail };
}

/** Whether the provider itself says that it does not have what was asked for, rather than a proxy that lacks the route. */
export function isNotFound(error: unknown): boolean {
  return error instanceof APIError && error.status === 404 && error.type === 'not_found_error';
}

/** The status decides before the type: gateways keep the status and invent the body. Without one it is an event of the stream. */
function reasonOf(status: number | undefined, type: string | null, detail: string): ModelFailureReason {
  const byType = type === null ? undefined : reasonsByType[type];
  if (status === undefined) return byType ?? (isContextOverflow(detail) ? 'overflow' : 'invalid_request');
  if (status === 429) return 'rate_limited';
  if (status === 529 || byType === 'overloaded') return 'overloaded';
  if (status >= 500 || status === 408) return 'server';
  if (status === 401 || status === 403) return 'bad_key';
  if (status === 402 || withoutCredit.test(detail)) return 'quota';
  if (status === 413) return 'overflow';
  if (status === 404) return byType ?? 'invalid_request';
  if (status === 407) return 'network';
  return isContextOverflow(detail) ? 'overflow' : 'invalid_request';
}

function wasStopped(error: unknown): boolean {
  return error instanceof APIUserAbortError || wasAborted(error);
}

function detailOf(error: unknown): string {
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    return error.apiMessage ?? bodyText(error.error) ?? plainText(error.message);
  }
  return thrownText(error);
}
