import { trimmedEnd } from '../../core/base/text';
import { ModelError, type ModelEvent, type ModelFailure } from '../../core/models/modelEvent';
import { english } from '../../core/l10n';
import { HttpError, httpFailure } from './httpFailure';
import { linesOf } from './linesOf';
import { wellFormedJson } from './requestParts';
import { sameOriginFetch, type Fetch } from './sameOriginFetch';
import { requestFailure, streamAnswer, withinMs, type RequestTimeouts, type StreamedAnswer, type Watchdog } from './streamAnswer';

export interface ModelHttpOptions {
  /** It is the address that `checkedAddress` returns. */
  readonly baseURL: string;
  /** Empty: none is sent. */
  readonly apiKey: string;
  /** Where the user sets `baseURL`. */
  readonly setting: string;
  readonly fetch?: Fetch;
  readonly timeouts?: Partial<RequestTimeouts>;
}

/**
 * `fetch` itself gives up after 300 s without a header; a server on the user's machine loads the model and reads the whole prompt before
 * it.
 */
const defaultTimeouts: RequestTimeouts = { firstByteMs: 295_000, idleMs: 120_000, smallMs: 15_000 };

/** Requests to one server, without retries of their own. Reads nothing from the environment. */
export class ModelHttp {
  private readonly timeouts: RequestTimeouts;
  private readonly request: Fetch;

  constructor(private readonly options: ModelHttpOptions) {
    this.timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.request = sameOriginFetch(options.setting, options.fetch);
  }

  /** Never throws; ends with exactly one `stopped` or `failed`. */
  stream(path: string, body: object, answer: StreamedAnswer<string>, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const open = async (abort: AbortSignal, watchdog: Watchdog) => {
      const response = await this.send(path, body, abort);
      watchdog.allow();
      return linesOf(response.body, () => watchdog.allow());
    };
    const { timeouts, failureOf } = this;
    return streamAnswer({ open, answer, timeouts, address: this.options.baseURL, failureOf, closingMs: 0 }, signal);
  }

  /** One of the small requests, given so many times the usual time. Rejects with `ModelError`. */
  async json(path: string, body: object | null, signal?: AbortSignal, patience = 1): Promise<unknown> {
    const smallMs = this.timeouts.smallMs * patience;
    try {
      const response = await this.send(path, body, withinMs(signal, smallMs));
      return await response.json();
    } catch (error) {
      throw new ModelError(requestFailure(error, { signal, smallMs, address: this.options.baseURL }, this.failureOf));
    }
  }

  private async send(path: string, body: object | null, signal: AbortSignal): Promise<Response> {
    const { baseURL, apiKey } = this.options;
    const headers: Record<string, string> = {
      'User-Agent': 'Threadkeeper',
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(apiKey === '' ? {} : { Authorization: `Bearer ${apiKey}` }),
    };
    const response = await this.request(`${baseURL}${path}`, {
      method: body ? 'POST' : 'GET',
      headers,
      signal,
      ...(body ? { body: wellFormedJson(body) } : {}),
    });
    if (!response.ok) throw new HttpError(response.status, await response.text().catch(() => ''), response.headers);
    return response;
  }

  private readonly failureOf = (error: unknown): ModelFailure =>
    httpFailure(error, this.options.apiKey === '' ? [] : [this.options.apiKey], Date.now());
}

/** An address without what is appended to it; throws `ModelError` for one that cannot be used. */
export function checkedAddress(baseURL: string): string {
  const address = trimmedEnd(baseURL.trim(), /\//);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return address;
  throw new ModelError({ reason: 'invalid_request', detail: english('The base address is not an http or https address.') });
}

/** A key that a header can carry, or none; `fetch` would quote any other in its error. Throws `ModelError`. */
export function checkedKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key === '' || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new ModelError({ reason: 'bad_key', detail: english('The key contains characters that no key has.') });
}
