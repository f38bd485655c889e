import type { ModelFailure, ModelFailureReason } from '../../core/models/modelEvent';
import {
  contextLimitOf,
  isContextOverflow,
  bodyText,
  cameFromNetwork,
  longestDetail,
  plainText,
  thrownText,
  wasAborted,
} from './failureText';
import { redactedHead } from '../../core/redaction/redactText';
import { wasRedirected } from './sameOriginFetch';

/** An answer with another status than 2xx, or (without a status) an error in the middle of a stream. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  constructor(
    readonly status: number | undefined,
    readonly body: string,
    readonly headers: Pick<Headers, 'get'> | null = null,
  ) {
    super(said(body).text || `${status ?? ''} status code (no body)`.trim());
  }
}

/**
 * What went wrong with a request that was made with `fetch`, whatever was thrown. Never throws; `secrets` are left out of the
 * detail. An abort is `cancelled` here; whether it was the user or a timeout only the caller knows.
 */
export function httpFailure(error: unknown, secrets: readonly string[], now: number): ModelFailure {
  const shown = (text: string) => redactedHead(text, longestDetail, secrets);
  if (error instanceof HttpError) {
    const { status, body, headers } = error;
    const { code } = said(body);
    const reason = reasonOf(status, code, error.message);
    const wait = retryAfterMs(headers, now);
    const window = reason === 'overflow' ? contextLimitOf(body) : undefined;
    return {
      reason,
      detail: shown(error.message),
      ...(status === undefined ? {} : { status }),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
      ...(window === undefined ? {} : { window }),
    };
  }
  const detail = shown(thrownText(error));
  if (wasAborted(error)) return { reason: 'cancelled', detail };
  if (wasRedirected(error)) return { reason: 'redirected', detail };
  return { reason: cameFromNetwork(error) ? 'network' : 'invalid_request', detail };
}

/** OpenAI's `code` and `type`, and the numbers and words that servers after its model put there. */
const reasonsByCode: Readonly<Record<string, ModelFailureReason>> = {
  context_length_exceeded: 'overflow',
  exceed_context_size_error: 'overflow',
  model_not_found: 'unknown_model',
  invalid_api_key: 'bad_key',
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  content_filter: 'refused',
  content_policy_violation: 'refused',
  rate_limit_exceeded: 'rate_limited',
  invalid_prompt: 'refused',
  server_error: 'server',
  overloaded_error: 'overloaded',
  server_is_overloaded: 'overloaded',
  slow_down: 'overloaded',
};

function reasonOf(status: number | undefined, code: string | null, detail: string): ModelFailureReason {
  const byCode = code === null ? undefined : reasonsByCode[code];
  if (byCode === 'quota') return byCode;
  switch (status ?? Number(code)) {
    case 401:
    case 403:
      return 'bad_key';
    case 402:
      return 'quota';
    case 407:
      return 'network';
    case 408:
      return 'server';
    case 413:
      return 'overflow';
    case 429:
      return 'rate_limited';
    case 529:
      return 'overloaded';
  }
  // Ollama has only words: "model 'x' not found", "try pulling it first".
  if (status === 404)
    return byCode ?? (/\bmodel\b/i.test(detail) && /\b(not found|does not exist)\b/i.test(detail) ? 'unknown_model' : 'invalid_request');
  // An error in the middle of a stream that nobody gave a name: the request had been accepted.
  if (status === undefined && code === null && !isContextOverflow(detail)) return 'server';
  if (byCode) return byCode;
  // llama.cpp refuses with 500 and Ollama with 400 what does not fit.
  if (isContextOverflow(detail)) return 'overflow';
  return (status ?? Number(code)) >= 500 ? 'server' : 'invalid_request';
}

/** `{error: {message, code, type}}`, `{error: "…"}`, `{message}`, `{detail}`, a page, or nothing. */
function said(body: string): { readonly text: string; readonly code: string | null } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { text: plainText(body), code: null };
  }
  const inner = (parsed as { error?: unknown } | null)?.error;
  const error = typeof inner === 'object' && inner !== null ? inner : parsed;
  const { code, type } = (error ?? {}) as Record<string, unknown>;
  const named =
    [code, type].find((value) => typeof value === 'string' && value in reasonsByCode) ?? (typeof code === 'number' ? code : null);
  return { text: bodyText(error) ?? '', code: named === null ? null : String(named) };
}

/** The wait a response asks for, in milliseconds: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date. */
export function retryAfterMs(headers: Pick<Headers, 'get'> | null | undefined, now: number): number | undefined {
  const exact = number(headers?.get('retry-after-ms'));
  if (exact !== undefined) return exact;
  const value = headers?.get('retry-after')?.trim();
  const seconds = number(value);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  // Only what looks like a date is read: Date.parse makes years of almost any digits.
  const date = value !== undefined && /^[a-z]{3},? /i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function number(value: string | null | undefined): number | undefined {
  const text = value?.trim();
  return text && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
