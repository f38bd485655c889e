import type { ModelEvent, ModelFailure } from '../../core/models/modelEvent';
import { ModelError } from '../../core/chat/modelError';
import { HttpError, httpFailure } from './httpFailure';
import { Watchdog } from './watchdog';

export interface HttpTimeouts {
  /** Until the response begins: a server on the user's machine loads the model and reads the whole prompt before it. */
  readonly firstByteMs: number;
  /** Between two pieces of a stream. */
  readonly idleMs: number;
  /** For one of the small requests: models, their limits. */
  readonly smallMs: number;
}

export interface ModelHttpOptions {
  /** As `checkedAddress` returns it. */
  readonly baseURL: string;
  /** Empty: none is sent. */
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
  readonly timeouts?: Partial<HttpTimeouts>;
}

export type Ending = Extract<ModelEvent, { type: 'stopped' | 'failed' }>;

/** Puts an answer together from the lines of its stream. */
export interface StreamedAnswer {
  /** Nothing of the answer is missing: whatever the connection does now costs nothing. */
  readonly complete: boolean;
  /** Throws `HttpError` for an error that the server reports in the stream. */
  read(line: string): ModelEvent[];
  /** How it ended, when the server has said so; undefined when it broke off. What is still open is in `rest`. */
  ending(): { readonly rest: readonly ModelEvent[]; readonly end: Ending } | undefined;
}

/** `fetch` itself gives up after 300 s without a header. */
const defaultTimeouts: HttpTimeouts = { firstByteMs: 295_000, idleMs: 120_000, smallMs: 15_000 };

/** Requests to one server, without retries of their own. Reads nothing from the environment. */
export class ModelHttp {
  private readonly timeouts: HttpTimeouts;

  constructor(private readonly options: ModelHttpOptions) {
    this.timeouts = { ...defaultTimeouts, ...options.timeouts };
  }

  /** Never throws; ends with exactly one `stopped` or `failed`. */
  async *stream(path: string, body: object, answer: StreamedAnswer, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const abort = new AbortController();
    const onAbort = () => abort.abort();
    const watchdog = new Watchdog(this.timeouts.firstByteMs, this.timeouts.idleMs, onAbort);
    let thrown: unknown;
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const response = await this.send(path, body, abort.signal);
      watchdog.allow();
      for await (const line of linesOf(response, watchdog)) {
        if (signal.aborted) break;
        yield* answer.read(line);
        if (answer.complete) break;
      }
    } catch (error) {
      thrown = error ?? new Error('Unknown error');
    } finally {
      watchdog.stop();
      signal.removeEventListener('abort', onAbort);
      abort.abort();
    }
    // Stopped by the user, whatever had come by then.
    const ended = signal.aborted && !answer.complete ? undefined : thrown instanceof HttpError ? undefined : answer.ending();
    if (ended) yield* ended.rest;
    yield ended?.end ?? { type: 'failed', failure: this.failureOf(thrown, signal, watchdog) };
  }

  /** One of the small requests. Rejects with `ModelError`. */
  async json(path: string, body: object | null, signal?: AbortSignal): Promise<unknown> {
    const late = AbortSignal.timeout(this.timeouts.smallMs);
    try {
      const response = await this.send(path, body, signal ? AbortSignal.any([signal, late]) : late);
      return await response.json();
    } catch (error) {
      throw new ModelError(this.failureOf(error, signal));
    }
  }

  private async send(path: string, body: object | null, signal: AbortSignal): Promise<Response> {
    const { baseURL, apiKey } = this.options;
    const headers: Record<string, string> = { 'User-Agent': 'Threadkeeper', ...(body ? { 'Content-Type': 'application/json' } : {}), ...(apiKey === '' ? {} : { Authorization: `Bearer ${apiKey}` }) };
    // Looked up per request: VS Code replaces the global one to honour its proxy settings.
    const request = this.options.fetch ?? fetch;
    const response = await request(`${baseURL}${path}`, { method: body ? 'POST' : 'GET', headers, signal, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new HttpError(response.status, await response.text().catch(() => ''), response.headers);
    return response;
  }

  private failureOf(error: unknown, signal: AbortSignal | undefined, watchdog?: Watchdog): ModelFailure {
    if (signal?.aborted) return { reason: 'cancelled', detail: '' };
    if (watchdog?.silentMs) return { reason: 'network', detail: `Nothing was received for ${watchdog.silentMs / 1000} s.` };
    if (error === undefined) return { reason: 'network', detail: 'The connection ended before the answer was complete.' };
    const failure = httpFailure(error, this.options.apiKey === '' ? [] : [this.options.apiKey], Date.now());
    return failure.reason === 'cancelled' ? { reason: 'network', detail: `No answer within ${this.timeouts.smallMs / 1000} s.` } : failure;
  }
}

/** An address without what is appended to it; throws `ModelError` for one that cannot be used. */
export function checkedAddress(baseURL: string): string {
  const address = baseURL.trim().replace(/\/+$/, '');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return address;
  throw new ModelError({ reason: 'invalid_request', detail: 'The base address is not an http or https address.' });
}

/** A key that a header can carry, or none; `fetch` would quote any other in its error. Throws `ModelError`. */
export function checkedKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key === '' || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new ModelError({ reason: 'bad_key', detail: 'The key contains characters that no key has.' });
}

async function* linesOf(response: Response, watchdog: Watchdog): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    watchdog.allow();
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest.trim() !== '') yield rest;
}
