import { Anthropic, type ClientOptions } from '@anthropic-ai/sdk';
import type { Logger, ModelClient } from '../../../core/ports';
import { ModelError, type ModelEvent, type ModelFailure } from '../../../core/models/modelEvent';
import type { ModelInfo } from '../../../core/models/modelInfo';
import type { ModelRequest } from '../../../core/models/modelRequest';
import { AnthropicAnswer } from './anthropicAnswer';
import { anthropicBaseURL } from './anthropicBaseURL';
import { anthropicFailure, isNotFound } from './anthropicFailure';
import { anthropicPrompt } from './anthropicRequest';
import { cacheRules, modelFromTable, takesSystemInside, LearnedWindows, isSize } from '../modelTable';
import { checkedAddress, checkedKey } from '../modelHttp';
import { sameOriginFetch, type Fetch } from '../sameOriginFetch';
import { logFailure, requestFailure, streamAnswer, withinMs, type RequestTimeouts, type Watchdog } from '../streamAnswer';
import { holdsSystem, refusesSystem } from '../requestParts';

export interface AnthropicClientOptions {
  readonly apiKey: string;
  /** Empty: the provider's own address. A trailing `/` or `/v1` is allowed. */
  readonly baseURL: string;
  readonly logger: Logger;
  readonly fetch?: Fetch;
  readonly timeouts?: Partial<RequestTimeouts>;
}

/** A prompt of a million tokens takes its time; between the pieces of an answer the provider sends keep-alive pings. */
const defaultTimeouts: RequestTimeouts = { firstByteMs: 120_000, idleMs: 60_000, smallMs: 15_000 };

/** How long a finished answer waits for the connection to end by itself, so that it can be used again. */
const closingMs = 500;

const anthropicProvider = 'anthropic';

/**
 * Claude over the Messages API. Reads nothing from the environment. The constructor throws a `ModelError`: `no_key` without a
 * key, `bad_key` for one that cannot be sent, `invalid_request` for an unusable address.
 */
export class AnthropicClient implements ModelClient {
  readonly provider = anthropicProvider;
  readonly generates = true;
  readonly compacts = true;
  readonly cacheRules = cacheRules;
  private readonly sdk: Anthropic;
  private readonly logger: Logger;
  private readonly timeouts: RequestTimeouts;
  private readonly secrets: readonly string[];
  private readonly described = new Map<string, ModelInfo>();
  /** Not every account has the whole window of a model, nor does every gateway. */
  private readonly windows = new LearnedWindows(1);
  /** Models that refuse a system message among the others. */
  private readonly refusing = new Set<string>();
  /** Not every gateway knows of an hour in its cache. */
  private keepsAnHour = true;
  /** A gateway without a models endpoint is not asked again. */
  private hasModels = true;

  constructor({ apiKey, baseURL, logger, fetch, timeouts }: AnthropicClientOptions) {
    const key = neededKey(apiKey);
    this.sdk = isolatedAnthropic({ apiKey: key, baseURL: messagesAddress(baseURL), ...(fetch ? { fetch } : {}) });
    this.logger = logger;
    this.timeouts = { ...defaultTimeouts, ...timeouts };
    this.secrets = [key];
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    for (;;) {
      let isRefused = false;
      for await (const event of this.send(request, signal)) {
        if (event.type === 'failed') {
          // Nothing was generated, so this is the same request in other words, not a retry.
          isRefused = this.refusesSystem(request, event.failure) || this.refusesHour(request, event.failure);
          if (isRefused) break;
          this.windows.learn(request.model, event.failure);
          logFailure(this.logger, request.model, event.failure);
        }
        yield event;
      }
      if (!isRefused) return;
    }
  }

  private send(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const { timeouts, failureOf } = this;
    const open = async (abort: AbortSignal, watchdog: Watchdog) => {
      const { answerSchema, ...plain } = request;
      const asked = answerSchema && this.described.get(request.model)?.structured ? request : plain;
      const body: Anthropic.MessageCreateParamsStreaming = { ...this.prompt(asked), max_tokens: request.maxOutputTokens, stream: true };
      const compacting = compaction(request);
      // `messages.create` would be this call and a warning on the console per request for models that will be retired.
      return this.sdk.post<AsyncIterable<Anthropic.RawMessageStreamEvent>>(compacting ? '/v1/messages?beta=true' : '/v1/messages', {
        body: { ...body, ...compacting?.body },
        ...(compacting ? { headers: compacting.headers } : {}),
        stream: true,
        signal: abort,
        middleware: [watchdog.middleware],
        // The SDK's own timeout ends with the headers and would only be a second opinion.
        timeout: timeouts.firstByteMs * 2,
      });
    };
    return streamAnswer({ open, answer: new AnthropicAnswer(), timeouts, address: this.sdk.baseURL, failureOf, closingMs }, signal);
  }

  private prompt(request: ModelRequest): ReturnType<typeof anthropicPrompt> {
    const { cacheTime: _, ...plain } = request;
    const asked = this.keepsAnHour ? request : plain;
    return anthropicPrompt(asked, !this.refusing.has(request.model) && takesSystemInside(request.model));
  }

  /** True once: from then on no time is named, and the usage says what was paid for. */
  private refusesHour({ model, cacheTime }: ModelRequest, { status, detail }: ModelFailure): boolean {
    if (status !== 400 || cacheTime !== '1h' || !this.keepsAnHour || !/\bttl\b/i.test(detail)) return false;
    this.keepsAnHour = false;
    this.logger.info('model_dialect_changed', { model, keepsAnHour: false });
    return true;
  }

  /** True once for every model: from then on it is sent none. Gateways and other clouds do not take what the provider itself takes. */
  private refusesSystem(request: ModelRequest, { status, detail }: ModelFailure): boolean {
    const { model } = request;
    if (status !== 400 || this.refusing.has(model) || !takesSystemInside(model) || !holdsSystem(request) || !refusesSystem(detail))
      return false;
    this.refusing.add(model);
    this.logger.info('model_dialect_changed', { model, systemInside: false });
    return true;
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
      throw new ModelError(this.smallFailure(error, signal));
    }
  }

  async describe(model: string, signal?: AbortSignal): Promise<ModelInfo> {
    const asked = this.described.get(model) ?? (await this.ask(model, signal));
    const known = asked && 'id' in asked ? asked : modelFromTable(this.provider, model);
    if (known) return this.windows.limited(known);
    throw new ModelError(asked && 'reason' in asked && asked.status === undefined ? asked : { reason: 'unknown_model', detail: model });
  }

  /** Tokens of the prompt as the provider estimates them; free of charge. Rejects with `ModelError`. */
  async countTokens(request: ModelRequest, signal?: AbortSignal): Promise<number> {
    try {
      const { input_tokens: tokens } = await this.sdk.messages.countTokens(this.prompt(request), this.small(signal));
      return tokens;
    } catch (error) {
      throw new ModelError(this.smallFailure(error, signal));
    }
  }

  /** Undefined, or why, when the provider cannot be asked; rejects when it says that there is no such model. */
  private async ask(model: string, signal: AbortSignal | undefined): Promise<ModelInfo | ModelFailure | undefined> {
    if (!this.hasModels || model === '') return undefined;
    try {
      const info = anthropicModel(this.provider, await this.sdk.models.retrieve(model, {}, this.small(signal)), model);
      if (info) this.described.set(model, info);
      return info;
    } catch (error) {
      const failure = this.smallFailure(error, signal);
      // No request of this kind will be answered: the table would only put off saying so. (403 may mean this list alone.)
      if (failure.status === 401 || failure.reason === 'redirected') throw new ModelError(failure);
      if (isNotFound(error)) throw new ModelError({ ...failure, reason: 'unknown_model' });
      if (failure.status === 404 || failure.status === 405 || failure.status === 501) this.hasModels = false;
      logFailure(this.logger, model, failure);
      return failure;
    }
  }

  private small(signal: AbortSignal | undefined): { signal: AbortSignal; timeout: number } {
    return { signal: withinMs(signal, this.timeouts.smallMs), timeout: this.timeouts.smallMs };
  }

  private smallFailure(error: unknown, signal: AbortSignal | undefined): ModelFailure {
    return requestFailure(error, { signal, smallMs: this.timeouts.smallMs, address: this.sdk.baseURL }, this.failureOf);
  }

  private readonly failureOf = (error: unknown): ModelFailure => anthropicFailure(error, this.secrets, Date.now());
}

/**
 * A beta (SDK 1.12, `BetaCompactionConfig`): nothing is said after the summary, and the instructions take the place of the server's own.
 */
function compaction({
  compact,
}: ModelRequest):
  | { readonly body: Pick<Anthropic.Beta.MessageCreateParams, 'compaction'>; readonly headers: Record<string, string> }
  | undefined {
  if (compact === undefined) return undefined;
  return { body: { compaction: { type: 'summarize', instructions: compact } }, headers: { 'anthropic-beta': 'compact-2026-09-04' } };
}

function neededKey(apiKey: string): string {
  const key = checkedKey(apiKey);
  if (key === '') throw new ModelError({ reason: 'no_key', detail: '' });
  return key;
}

/** The SDK adds the version itself. */
function messagesAddress(baseURL: string): string {
  return baseURL.trim() === '' ? anthropicBaseURL : checkedAddress(baseURL).replace(/\/v1$/, '');
}

export interface AnthropicEndpoint {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch?: Fetch;
}

/**
 * The SDK's client without its surroundings: no environment, no credential files, no retries, no output on the console.
 *
 * Explicit options are not enough: `ANTHROPIC_CUSTOM_HEADERS` is merged in whatever the options say and can replace the key (SDK
 * 1.12). All of that happens inside the constructor, which is synchronous, so its variables are out of sight just for that call.
 */
function isolatedAnthropic({ apiKey, baseURL, fetch: ownFetch }: AnthropicEndpoint): Anthropic {
  const options: ClientOptions = {
    apiKey,
    baseURL,
    webhookKey: null,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
    fetch: sameOriginFetch('threadkeeper.anthropic.baseUrl', ownFetch),
    defaultHeaders: { 'User-Agent': 'Threadkeeper', ...keyHeader(apiKey, baseURL) },
  };
  return withoutVariables(/^ANTHROPIC_/i, () => new Anthropic(options));
}

/** The SDK sends the key as a bearer token, as the API has it since version 2026-10-21. Gateways older than that look here. */
function keyHeader(apiKey: string, baseURL: string): Record<string, string> {
  return new URL(baseURL).host === new URL(anthropicBaseURL).host ? {} : { 'X-Api-Key': apiKey };
}

function withoutVariables<T>(hidden: RegExp, make: () => T): T {
  const kept = Object.entries(process.env).filter(([name]) => hidden.test(name));
  for (const [name] of kept) delete process.env[name];
  try {
    return make();
  } finally {
    for (const [name, value] of kept) process.env[name] = value;
  }
}

/**
 * A model as the models endpoint lists it, under the id it was asked for (an alias stays the alias). Undefined for an answer
 * that is not a model: gateways and sign-in pages answer anything. Missing limits come from the table.
 */
function anthropicModel(provider: string, listed: unknown, askedFor?: string): ModelInfo | undefined {
  if (typeof listed !== 'object' || listed === null) return undefined;
  const { id, display_name: name, max_input_tokens: window, max_tokens: maxOutput, capabilities } = listed as Record<string, unknown>;
  if (typeof id !== 'string') return undefined;
  const known = modelFromTable(provider, id);
  const asked = isSize(window) && isSize(maxOutput);
  if (!asked && !known) return undefined;
  return {
    provider,
    id: askedFor ?? id,
    name: typeof name === 'string' && name !== '' ? name : (known?.name ?? id),
    window: isSize(window) ? window : (known?.window ?? 0),
    maxOutput: isSize(maxOutput) ? maxOutput : (known?.maxOutput ?? 0),
    source: asked ? 'provider' : 'table',
    ...thinkingOf(capabilities),
    ...((capabilities as Partial<Anthropic.ModelCapabilities> | null | undefined)?.structured_outputs?.supported === true
      ? { structured: true as const }
      : {}),
  };
}

/** Gateways list no capabilities, or some of them. */
function thinkingOf(capabilities: unknown): Pick<ModelInfo, 'thinking'> {
  const { supported, types } = ((capabilities as Partial<Anthropic.ModelCapabilities> | null | undefined)?.thinking ??
    {}) as Partial<Anthropic.ThinkingCapability>;
  if (supported === false) return { thinking: 'none' };
  if (supported !== true) return {};
  return { thinking: types?.disabled?.supported === false ? 'always' : 'levels' };
}
