import { english } from '../../core/l10n';
import { causes } from './failureText';

export type Fetch = typeof fetch;

/** A server wants the request sent to somebody else. The message says all that is to be said. */
class RedirectError extends Error {
  override readonly name = 'RedirectError';
}

export function wasRedirected(error: unknown): error is Error {
  return causes(error).some((cause) => cause instanceof RedirectError);
}

/** Gateways need one, for a missing slash or a new version. */
const mostRedirects = 5;
/** A message shows so many characters of an address. */
const longestAddress = 120;

/**
 * `fetch` for requests that carry a key and a conversation: redirects stay with the server that the user has named. `fetch` itself
 * follows them to any server, with the whole body and every header but a few (`Authorization` is taken out, `x-api-key` is not).
 * Rejects with `RedirectError`; `setting` is where the user can name another server. Bodies are texts, which can be sent again.
 */
export function sameOriginFetch(setting: string, given?: Fetch): Fetch {
  return async (input, init) => {
    // Its body could be read once only.
    if (input instanceof Request) throw new TypeError('Give the address and what is to be sent, not a Request.');
    const first = new URL(input);
    let url = first;
    let request: RequestInit = { ...init, redirect: 'manual' };
    for (let redirects = 0; ; redirects++) {
      // Looked up per request: VS Code replaces the global one to honour its proxy settings.
      const response = await (given ?? fetch)(url.href, request);
      const location = isRedirect(response.status) ? response.headers.get('location') : null;
      if (location === null) return withShortError(response);
      await response.body?.cancel();
      const next = URL.canParse(location, url.href) ? new URL(location, url) : null;
      if (next?.origin !== url.origin)
        throw new RedirectError(elsewhere(url, next?.origin === 'null' || !next ? location : addressOf(next), setting));
      if (redirects === mostRedirects)
        throw new RedirectError(
          english(
            '{0} redirects again and again. Look at the address in the setting {1} (command line: --base-url).',
            addressOf(first),
            setting,
          ),
        );
      if (!keepsMethod(response.status)) request = asGet(request);
      url = next;
    }
  };
}

function isRedirect(status: number): boolean {
  return keepsMethod(status) || status === 301 || status === 302 || status === 303;
}

function keepsMethod(status: number): boolean {
  return status === 307 || status === 308;
}

/** What `fetch` makes of a POST that is answered with 301, 302 or 303. */
function asGet({ body: _body, headers, ...request }: RequestInit): RequestInit {
  const kept = new Headers(headers);
  for (const name of ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location']) kept.delete(name);
  return { ...request, method: 'GET', headers: kept };
}

function elsewhere(from: URL, to: string, setting: string): string {
  const found = english(
    '{0} redirects to another server, {1}. Neither the key nor the conversation was sent there.',
    addressOf(from),
    to.slice(0, longestAddress),
  );
  return english('{0} If it is the right one, enter its address in the setting {1} (command line: --base-url).', found, setting);
}

/** Leaves out a name, a password and what is asked for: all of these can be secret. */
function addressOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, longestAddress);
}

/** Longer ones are pages of a proxy, or an attempt to keep us reading. */
const longestErrorBody = 65_536;

/** An error's response with no more of its body than anybody reads. Others come back as they are. */
function withShortError(response: Response): Response {
  if (response.ok || !response.body) return response;
  let left = longestErrorBody;
  const head = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.terminate();
    },
  });
  return new Response(response.body.pipeThrough(head), {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
  });
}
