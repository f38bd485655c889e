import { errorText } from '../../core/errors';
import type { ModelFailure } from '../../core/models/modelEvent';

/** Longer texts are error pages of a proxy. */
export const longestDetail = 600;

/** The error and its causes, outermost first. */
export function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && !chain.includes(at); at = at.cause) chain.push(at);
  return chain;
}

export function wasAborted(error: unknown): boolean {
  return causes(error).some(({ name }) => name === 'AbortError' || name === 'TimeoutError');
}

/** `fetch` throws a TypeError with a cause, a broken body a SyntaxError, sockets and name look-ups an error with a code. */
export function cameFromNetwork(error: unknown): boolean {
  if (error instanceof SyntaxError) return true;
  return causes(error).some((cause) => codeOf(cause) !== undefined || /^(fetch failed|terminated)$/.test(errorText(cause)));
}

/** What the innermost cause says, with its code. */
export function thrownText(error: unknown): string {
  const chain = causes(error);
  const told = chain.findLast((cause) => errorText(cause) !== '') ?? error;
  const code = chain.map(codeOf).findLast((found) => found !== undefined);
  const text = errorText(told);
  return code === undefined || text.includes(code) ? text : `${code}: ${text}`;
}

/** Name and port of a server, to be told; an address that is none stays as it is. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}

/** A socket's error often has no word on whom it was to reach. */
export function namingServer(failure: ModelFailure, host: string): ModelFailure {
  // 407 comes from a proxy.
  if (failure.reason !== 'network' || failure.status !== undefined || failure.detail.includes(host)) return failure;
  return { ...failure, detail: `${host}: ${failure.detail}` };
}

/** Bodies of gateways: `{detail}`, `{message}`, `{error: "…"}`. */
export function bodyText(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const { message, detail, error } = body as Record<string, unknown>;
  return [message, detail, error].find((text) => typeof text === 'string') ?? JSON.stringify(body);
}

/** An HTML error page, as words, in linear time: what is opened and never closed is read once. */
export function plainText(text: string): string {
  return text
    .replace(/<(script|style)\b(?:(?!<\/\1>)[\s\S])*(?:<\/\1>|$)/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/**
 * Providers and gateways word it differently; these cover Anthropic ("prompt is too long: N tokens > M maximum", "input length
 * and `max_tokens` exceed context limit"), OpenAI-compatible servers ("maximum context length is N tokens"), llama.cpp,
 * LM Studio ("the context the overflows") and vLLM. Limits on output, images or names must not match: compaction would not help.
 */
const patterns: readonly RegExp[] = [
  /\b(prompt|input|conversation|messages?|request)\b[^.]{0,40}\b(is|are) too (long|large)\b/i,
  /\bexceed(s|ed|ing)?\b[^.]{0,60}\bcontext\b/i,
  /\bcontext\b[^.]{0,40}\b(exceed(s|ed)?|overflows?|too (small|short))\b/i,
  /\bmaximum (context|prompt|input) (length|size)\b/i,
  /\btoo many (input|prompt) tokens\b/i,
];

/** Whether a provider's words say that the prompt does not fit the model's window. Only for answers that are not a 429. */
export function isContextOverflow(text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}

/** How servers name the limit that a prompt has exceeded: Anthropic (alone, and with the answer), OpenAI and vLLM, LM Studio, llama.cpp. */
const limits: readonly RegExp[] = [
  /\btokens > ([\d,]+) maximum\b/i,
  /\bcontext limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i,
  /\bmaximum (?:context|model) length (?:is|of) ([\d,]+)/i,
  /\bcontext (?:length|size|window)(?: is| of)?(?: only)? \(?([\d,]+)/i,
  /"n_ctx"\s*:\s*(\d+)/,
];

/** Nobody offers less; smaller numbers in such a text are something else. */
const smallest = 256;

/** The window that a refusal for length names: "This model's maximum context length is 8192 tokens". */
export function contextLimitOf(text: string): number | undefined {
  for (const pattern of limits) {
    const limit = Number(pattern.exec(text)?.[1]?.replaceAll(',', ''));
    if (limit >= smallest) return limit;
  }
  return undefined;
}
