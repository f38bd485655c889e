import { APIConnectionError, APIError, APIUserAbortError } from '@anthropic-ai/sdk';
import type { ModelFailure, ModelFailureReason } from '../../core/ports';
import { errorText } from '../../core/errors';
import { isContextOverflow } from './overflowText';
import { redactSecrets } from './redact';
import { retryAfterMs } from './retryAfter';

/** Longer texts are error pages of a proxy. */
const longestDetail = 600;

const reasonsByType: Readonly<Record<string, ModelFailureReason>> = {
  authentication_error: 'bad_key',
  permission_error: 'bad_key',
  rate_limit_error: 'rate_limited',
  overloaded_error: 'overloaded',
  request_too_large: 'overflow',
  not_found_error: 'unknown_model',
  api_error: 'server',
  timeout_error: 'server',
};

/**
 * What went wrong, for whatever the SDK, `fetch` or the stream threw. Never throws. `secrets` are left out of the detail.
 * An abort is `cancelled` here; whether it was the user or a timeout only the caller knows.
 */
export function anthropicFailure(error: unknown, secrets: readonly string[], now: number): ModelFailure {
  const detail = redactSecrets(detailOf(error), secrets).slice(0, longestDetail);
  if (wasAborted(error)) return { reason: 'cancelled', detail };
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    const status: number | undefined = error.status;
    const wait = retryAfterMs(error.headers, now);
    return {
      reason: reasonOf(status, error.type, detail),
      detail,
      ...(status === undefined ? {} : { status }),
      ...(wait === undefined ? {} : { retryAfterMs: wait }),
    };
  }
  return { reason: cameFromNetwork(error) ? 'network' : 'invalid_request', detail };
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
  if (status === 413) return 'overflow';
  if (status === 404) return byType ?? 'invalid_request';
  if (status === 407) return 'network';
  return isContextOverflow(detail) ? 'overflow' : 'invalid_request';
}

function wasAborted(error: unknown): boolean {
  return error instanceof APIUserAbortError || causes(error).some(({ name }) => name === 'AbortError' || name === 'TimeoutError');
}

/** `fetch` throws a TypeError with a cause, a broken body a SyntaxError, sockets and name look-ups an error with a code. */
function cameFromNetwork(error: unknown): boolean {
  if (error instanceof APIConnectionError || error instanceof SyntaxError) return true;
  return causes(error).some((cause) => codeOf(cause) !== undefined || /^(fetch failed|terminated)$/.test(errorText(cause)));
}

function detailOf(error: unknown): string {
  if (error instanceof APIError && !(error instanceof APIConnectionError)) {
    return error.apiMessage ?? bodyText(error.error) ?? plainText(error.message);
  }
  const chain = causes(error);
  const told = chain.findLast((cause) => errorText(cause) !== '') ?? error;
  const code = chain.map(codeOf).findLast((found) => found !== undefined);
  const text = errorText(told);
  return code === undefined || text.includes(code) ? text : `${code}: ${text}`;
}

/** Bodies of gateways: `{detail}`, `{message}`, `{error: "…"}`. */
function bodyText(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const { message, detail, error } = body as Record<string, unknown>;
  return [message, detail, error].find((text) => typeof text === 'string') ?? JSON.stringify(body);
}

/** An HTML error page, as words. */
function plainText(text: string): string {
  return text
    .replace(/<(script|style)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The error and its causes, outermost first. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && !chain.includes(at); at = at.cause) chain.push(at);
  return chain;
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
