import { errorText } from '../../core/errors';

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
