import type { Logger } from '../../core/ports';
import type { ModelEvent, ModelFailure } from '../../core/models/modelEvent';
import { english } from '../../core/l10n';
import { hostOf, namingServer } from './failureText';
import type { Middleware } from '@anthropic-ai/sdk';

export interface RequestTimeouts {
  /** Until the response begins. */
  readonly firstByteMs: number;
  /** Between two pieces of a stream. */
  readonly idleMs: number;
  /** It is for the small requests: models, counts, limits. */
  readonly smallMs: number;
}

export type Ending = Extract<ModelEvent, { type: 'stopped' | 'failed' }>;

/** Puts an answer together from the pieces of its stream. */
export interface StreamedAnswer<Piece> {
  /** Nothing of the answer is missing: whatever the connection does now costs nothing. */
  readonly complete: boolean;
  /** Throws what the server reports in the stream. */
  read(piece: Piece): ModelEvent[];
  /** How it ended, when the server has said so; undefined when it broke off. What is still open is in `rest`. */
  ending(): { readonly rest: readonly ModelEvent[]; readonly end: Ending } | undefined;
}

export interface AnswerRequest<Piece> {
  /** Sends the request. The watchdog has to be told of every sign of life. */
  readonly open: (signal: AbortSignal, watchdog: Watchdog) => Promise<AsyncIterable<Piece>>;
  readonly answer: StreamedAnswer<Piece>;
  readonly timeouts: RequestTimeouts;
  /** A failure that does not say which server it came from is told with the host of this address. */
  readonly address: string;
  /** What was thrown, in the words of the port. */
  readonly failureOf: (error: unknown) => ModelFailure;
  /** How long a complete answer waits for the connection to end by itself, so that it can be used again; 0: not at all. */
  readonly closingMs: number;
}

/** One request and its answer, as the port has it: never throws, and ends with exactly one `stopped` or `failed`. */
export async function* streamAnswer<Piece>(
  { open, answer, timeouts, address, failureOf, closingMs }: AnswerRequest<Piece>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const abort = new AbortController();
  const onAbort = () => abort.abort();
  const watchdog = new Watchdog(timeouts.firstByteMs, timeouts.idleMs, onAbort);
  let thrown: unknown;
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    for await (const piece of await open(abort.signal, watchdog)) {
      if (signal.aborted && !answer.complete) break;
      yield* answer.read(piece);
      if (!answer.complete) continue;
      if (closingMs === 0) break;
      watchdog.allow(closingMs);
    }
  } catch (error) {
    thrown = error ?? new Error('Unknown error');
  } finally {
    watchdog.stop();
    signal.removeEventListener('abort', onAbort);
    abort.abort();
  }
  // Stopped by the user, whatever had come by then.
  const ended = signal.aborted && !answer.complete ? undefined : answer.ending();
  if (ended) yield* ended.rest;
  yield ended?.end ?? {
    type: 'failed',
    failure: requestFailure(thrown, { signal, silentMs: watchdog.silentMs, smallMs: timeouts.smallMs, address }, failureOf),
  };
}

interface Circumstances {
  readonly signal: AbortSignal | undefined;
  /** How long nothing came before the request was ended for it. */
  readonly silentMs?: number | null;
  readonly smallMs: number;
  readonly address: string;
}

/** Why a request failed, and at which server; who ended it is known here, not from what was thrown. */
export function requestFailure(
  error: unknown,
  { signal, silentMs, smallMs, address }: Circumstances,
  failureOf: (error: unknown) => ModelFailure,
): ModelFailure {
  if (signal?.aborted) return { reason: 'cancelled', detail: '' };
  const host = hostOf(address);
  if (silentMs) return { reason: 'network', detail: english('The server {0} sent nothing for {1} s.', host, silentMs / 1000) };
  if (error === undefined)
    return { reason: 'network', detail: english('The server {0} ended the connection before the answer was complete.', host) };
  const failure = failureOf(error);
  return failure.reason === 'cancelled'
    ? { reason: 'network', detail: english('The server {0} did not answer within {1} s.', host, smallMs / 1000) }
    : namingServer(failure, host);
}

/** Aborted with the caller's signal, and by itself after a time. */
export function withinMs(signal: AbortSignal | undefined, ms: number): AbortSignal {
  const late = AbortSignal.timeout(ms);
  return signal ? AbortSignal.any([signal, late]) : late;
}

export function logFailure(logger: Logger, model: string, { reason, status, detail }: ModelFailure): void {
  if (reason === 'cancelled') logger.debug('model_request_cancelled', { model });
  else logger.warn('model_request_failed', { model, reason, status, detail });
}

/** Ends a request whose connection has gone silent. Runs from construction until `stop`. */
export class Watchdog {
  private timer: NodeJS.Timeout;
  private silent: number | null = null;

  constructor(
    firstByteMs: number,
    private readonly idleMs: number,
    private readonly onSilence: () => void,
  ) {
    this.timer = this.after(firstByteMs);
  }

  /** How long nothing came before the request was ended for it; null when something else ended it. */
  get silentMs(): number | null {
    return this.silent;
  }

  /** The next byte may take `ms`. */
  allow(ms = this.idleMs): void {
    if (this.silent !== null) return;
    clearTimeout(this.timer);
    this.timer = this.after(ms);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  /**
   * Watches the bytes of the response rather than the events of the SDK's stream: the provider's keep-alive pings are bytes, but
   * the SDK does not pass them on.
   */
  readonly middleware: Middleware = async (request, next) => {
    const response = await next(request);
    this.allow();
    if (!response.body) return response;
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        this.allow();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(watched), response);
  };

  private after(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.silent = ms;
      this.onSilence();
    }, ms);
  }
}
