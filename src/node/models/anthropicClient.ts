import type { Anthropic } from '@anthropic-ai/sdk';
import type { Logger, ModelClient } from '../../core/ports';
import type { ModelEvent, ModelFailure } from '../../core/models/modelEvent';
import type { ModelInfo } from '../../core/models/modelInfo';
import type { ModelRequest } from '../../core/models/modelRequest';
import { ModelError } from '../../core/chat/modelError';
import { AnthropicAnswer } from './anthropicAnswer';
import { anthropicBaseURL } from './anthropicBaseURL';
import { anthropicFailure, isNotFound } from './anthropicFailure';
import { anthropicModel } from './anthropicModel';
import { anthropicPrompt } from './anthropicRequest';
import { isolatedAnthropic } from './isolatedAnthropic';
import { modelFromTable } from './modelTable';
import { Watchdog } from './watchdog';

export interface AnthropicTimeouts {
  /** Until the response begins. A prompt of a million tokens takes its time. */
  readonly firstByteMs: number;
  /** Between two pieces of a stream; the provider sends keep-alive pings. */
  readonly idleMs: number;
  /** For one of the small requests: models, counts. */
  readonly smallMs: number;
}

export interface AnthropicClientOptions {
  readonly apiKey: string;
  /** Empty: the provider's own address. A trailing `/` or `/v1` is allowed. */
  readonly baseURL: string;
  readonly logger: Logger;
  readonly fetch?: typeof fetch;
  readonly timeouts?: Partial<AnthropicTimeouts>;
}

const defaultTimeouts: AnthropicTimeouts = { firstByteMs: 120_000, idleMs: 60_000, smallMs: 15_000 };

/** How long a finished answer waits for the connection to end by itself, so that it can be used again. */
const closingMs = 500;

export const anthropicProvider = 'anthropic';

/**
 * Claude over the Messages API. Reads nothing from the environment. The constructor throws a `ModelError`: `no_key` without a
 * key, `bad_key` for one that cannot be sent, `invalid_request` for an unusable address.
 */
export class AnthropicClient implements ModelClient {
  readonly provider = anthropicProvider;
  readonly generates = true;
  private readonly sdk: Anthropic;
  private readonly logger: Logger;
  private readonly timeouts: AnthropicTimeouts;
  private readonly secrets: readonly string[];
  private readonly described = new Map<string, ModelInfo>();
  /** A gateway without a models endpoint is not asked again. */
  private hasModels = true;

  constructor({ apiKey, baseURL, logger, fetch, timeouts }: AnthropicClientOptions) {
    const key = checkedKey(apiKey);
    this.sdk = isolatedAnthropic({ apiKey: key, baseURL: checkedAddress(baseURL), ...(fetch ? { fetch } : {}) });
    this.logger = logger;
    this.timeouts = { ...defaultTimeouts, ...timeouts };
    this.secrets = [key];
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const answer = new AnthropicAnswer();
    const abort = new AbortController();
    const onAbort = () => abort.abort();
    const watchdog = new Watchdog(this.timeouts.firstByteMs, this.timeouts.idleMs, onAbort);
    let thrown: unknown;
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const body: Anthropic.MessageCreateParamsStreaming = { ...anthropicPrompt(request), max_tokens: request.maxOutputTokens, stream: true };
      // Not `messages.create`: it is this call and a warning on the console per request for models that will be retired.
      const events = await this.sdk.post<AsyncIterable<Anthropic.RawMessageStreamEvent>>('/v1/messages', {
        body,
        stream: true,
        signal: abort.signal,
        middleware: [watchdog.middleware],
        // The SDK's own timeout ends with the headers and would only be a second opinion.
        timeout: this.timeouts.firstByteMs * 2,
      });
      for await (const event of events) {
        if (signal.aborted && !answer.complete) break;
        yield* answer.read(event);
        if (answer.complete) watchdog.allow(closingMs);
      }
    } catch (error) {
      thrown = error ?? new Error('Unknown error');
    } finally {
      watchdog.stop();
      signal.removeEventListener('abort', onAbort);
      abort.abort();
    }
    const ending = answer.ending() ?? failed(this.failureOf(thrown, signal, watchdog));
    if (ending.type === 'failed') this.log(request.model, ending.failure);
    yield ending;
  }

  async listModels(signal?: AbortSignal): Promise<ModelInfo[]> {
    try {
      const models: ModelInfo[] = [];
      for await (const listed of this.sdk.models.list({ limit: 100 }, this.small(signal))) {
        const info = anthropicModel(this.provider, listed);
        if (!info) continue;
        models.push(info);
        this.described.set(info.id, info);
      }
      return models;
    } catch (error) {
      throw new ModelError(this.failureOf(error, signal));
    }
  }

  async describe(model: string, signal?: AbortSignal): Promise<ModelInfo> {
    const known = this.described.get(model) ?? (await this.ask(model, signal)) ?? modelFromTable(this.provider, model);
    if (!known) throw new ModelError({ reason: 'unknown_model', detail: model });
    return known;
  }

  /** Tokens of the prompt as the provider estimates them; free of charge. Rejects with `ModelError`. */
  async countTokens(request: ModelRequest, signal?: AbortSignal): Promise<number> {
    try {
      const { input_tokens: tokens } = await this.sdk.messages.countTokens(anthropicPrompt(request), this.small(signal));
      return tokens;
    } catch (error) {
      throw new ModelError(this.failureOf(error, signal));
    }
  }

  /** Undefined when the provider cannot be asked; rejects when it says that there is no such model. */
  private async ask(model: string, signal: AbortSignal | undefined): Promise<ModelInfo | undefined> {
    if (!this.hasModels || model === '') return undefined;
    try {
      const info = anthropicModel(this.provider, await this.sdk.models.retrieve(model, {}, this.small(signal)), model);
      if (info) this.described.set(model, info);
      return info;
    } catch (error) {
      const failure = this.failureOf(error, signal);
      // No request with this key will be answered: the table would only put off saying so. (403 may mean this list alone.)
      if (failure.status === 401) throw new ModelError(failure);
      if (isNotFound(error)) throw new ModelError({ ...failure, reason: 'unknown_model' });
      if (failure.status === 404 || failure.status === 405 || failure.status === 501) this.hasModels = false;
      this.log(model, failure);
      return undefined;
    }
  }

  private small(signal: AbortSignal | undefined): { signal: AbortSignal; timeout: number } {
    const late = AbortSignal.timeout(this.timeouts.smallMs);
    return { signal: signal ? AbortSignal.any([signal, late]) : late, timeout: this.timeouts.smallMs };
  }

  private failureOf(error: unknown, signal: AbortSignal | undefined, watchdog?: Watchdog): ModelFailure {
    if (signal?.aborted) return { reason: 'cancelled', detail: '' };
    if (watchdog?.silentMs) return { reason: 'network', detail: `Nothing was received for ${watchdog.silentMs / 1000} s.` };
    if (error === undefined) return { reason: 'network', detail: 'The connection ended before the answer was complete.' };
    const failure = anthropicFailure(error, this.secrets, Date.now());
    return failure.reason === 'cancelled' ? { reason: 'network', detail: `No answer within ${this.timeouts.smallMs / 1000} s.` } : failure;
  }

  private log(model: string, { reason, status, detail }: ModelFailure): void {
    if (reason === 'cancelled') this.logger.debug('model_request_cancelled', { model });
    else this.logger.warn('model_request_failed', { model, reason, status, detail });
  }
}

function failed(failure: ModelFailure): Extract<ModelEvent, { type: 'failed' }> {
  return { type: 'failed', failure };
}

function checkedKey(apiKey: string): string {
  const key = apiKey.trim();
  if (key === '') throw new ModelError({ reason: 'no_key', detail: '' });
  // A header cannot carry it; `fetch` would quote the key in its error.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ModelError({ reason: 'bad_key', detail: 'The key contains characters that no key has.' });
  return key;
}

function checkedAddress(baseURL: string): string {
  const address = baseURL.trim().replace(/\/+$/, '').replace(/\/v1$/, '') || anthropicBaseURL;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new ModelError({ reason: 'invalid_request', detail: 'The base address is not an http or https address.' });
  }
  return address;
}
