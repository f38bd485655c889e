import type { Logger, ModelClient } from '../../../core/ports';
import { ModelError, type ModelEvent, type ModelFailure } from '../../../core/models/modelEvent';
import type { ModelInfo } from '../../../core/models/modelInfo';
import type { ModelRequest } from '../../../core/models/modelRequest';
import { english } from '../../../core/l10n';
import { ChatCompletionAnswer } from './chatCompletionAnswer';
import { chatCompletionBody } from './chatCompletionRequest';
import { LearnedWindows, isSize } from '../modelTable';
import { checkedAddress, checkedKey, ModelHttp, type ModelHttpOptions } from '../modelHttp';
import { firstDialect, isMissingRoute, otherDialect, type OpenaiApi, type OpenaiDialect } from './openaiDialect';
import { ResponsesAnswer } from '../responses/responsesAnswer';
import { responsesBody } from '../responses/responsesRequest';
import { logFailure } from '../streamAnswer';

export interface OpenaiCompatibleOptions extends Omit<ModelHttpOptions, 'baseURL' | 'setting'> {
  /**
   * Up to the version: `https://host/v1`. A trailing `/`, `/chat/completions` or `/responses` is allowed; without any path `/v1` is added.
   */
  readonly baseURL: string;
  readonly api: OpenaiApi;
  /** What the models can read, in tokens; null: what the server says. */
  readonly contextTokens: number | null;
  readonly logger: Logger;
}

const openaiCompatibleProvider = 'openai-compatible';

/**
 * Any server that speaks the Chat Completions API or the Responses API. Learns from refusals how long a prompt may be. The constructor
 * throws a
 * `ModelError`: `invalid_request` for an unusable address, `bad_key` for a key that cannot be sent.
 */
export class OpenaiCompatibleClient implements ModelClient {
  readonly provider = openaiCompatibleProvider;
  readonly generates = true;
  private readonly http: ModelHttp;
  private readonly logger: Logger;
  private readonly contextTokens: number | null;
  private readonly dialects = new Map<string, OpenaiDialect>();
  private readonly described = new Map<string, ModelInfo>();
  private readonly windows = new LearnedWindows(1);
  /** A server without a list of models is not asked again. */
  private hasModels = true;
  private api: OpenaiApi;

  constructor({ logger, contextTokens, api, ...options }: OpenaiCompatibleOptions) {
    const setting = 'threadkeeper.openaiCompatible.baseUrl';
    this.http = new ModelHttp({ ...options, setting, baseURL: openaiAddress(options.baseURL), apiKey: checkedKey(options.apiKey) });
    this.logger = logger;
    this.contextTokens = contextTokens;
    this.api = api;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const { model } = request;
    for (;;) {
      const dialect = this.dialects.get(model) ?? firstDialect(model, this.api === 'chat-completions' ? this.api : 'responses');
      let other: OpenaiDialect | undefined;
      for await (const event of this.ask(request, dialect, signal)) {
        if (event.type === 'failed') {
          // Refused for the name of a route or a parameter: nothing was generated, so this is the same request in other words, not a retry.
          other = this.withoutResponses(dialect, event.failure) ?? otherDialect(dialect, event.failure, request);
          if (other) break;
          this.windows.learn(model, event.failure);
          logFailure(this.logger, model, event.failure);
        }
        yield event;
      }
      if (!other) return;
      this.dialects.set(model, other);
      this.logger.info('model_dialect_changed', { model, ...other });
    }
  }

  private ask(request: ModelRequest, dialect: OpenaiDialect, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    if (dialect.api === 'responses') return this.http.stream('/responses', responsesBody(request, dialect), new ResponsesAnswer(), signal);
    return this.http.stream('/chat/completions', chatCompletionBody(request, dialect), new ChatCompletionAnswer(), signal);
  }

  private withoutResponses(dialect: OpenaiDialect, failure: ModelFailure): OpenaiDialect | undefined {
    if (this.api !== 'detect' || dialect.api !== 'responses' || !isMissingRoute(failure)) return undefined;
    this.api = 'chat-completions';
    return { ...dialect, api: this.api };
  }

  /** `patience`: so many times the usual time. */
  async listModels(signal?: AbortSignal, patience = 1): Promise<ModelInfo[]> {
    const { data } = (await this.http.json('/models', null, signal, patience)) as { data?: unknown };
    const models = (Array.isArray(data) ? data : []).flatMap(
      (listed: unknown) => openaiModel(this.provider, listed, this.contextTokens) ?? [],
    );
    for (const info of models) this.described.set(info.id, info);
    return models.map((info) => this.limited(info));
  }

  /**
   * Resolves with what the server tells of the model, or a careful guess where it tells nothing. Rejects with `ModelError`: it cannot be
   * asked (it is down or busy, refuses the key, is elsewhere), or no model is named.
   */
  async describe(model: string, signal?: AbortSignal): Promise<ModelInfo> {
    if (model === '') throw new ModelError({ reason: 'unknown_model', detail: english('No model is chosen.') });
    if (!this.described.has(model) && this.hasModels) {
      await this.listModels(signal, describingPatience).catch((error: unknown) => {
        if (!ModelError.is(error)) throw error;
        const { reason, status, detail } = error.failure;
        if (reason === 'bad_key' || reason === 'redirected' || reason === 'cancelled') throw error;
        // A guess would fold a long session for a window that is larger as soon as the server answers.
        if (this.contextTokens === null && isAway(error.failure)) throw error;
        if (status === 404 || status === 405 || status === 501) this.hasModels = false;
        this.logger.warn('models_not_listed', { reason, status, detail });
      });
    }
    // Not every server lists all that it has; a request tells.
    return this.limited(this.described.get(model) ?? openaiModel(this.provider, { id: model }, this.contextTokens)!);
  }

  private limited(info: ModelInfo): ModelInfo {
    const thinking = this.dialects.get(info.id)?.least === null ? { thinking: 'none' as const } : {};
    return { ...this.windows.limited(info), ...thinking };
  }
}

/** So many times the usual time a message waits for what it needs to know of its model: a server may answer one request after the other. */
const describingPatience = 4;

/** A server, or the gateway to it, that is only not there at the moment. */
function isAway({ reason, status }: ModelFailure): boolean {
  const isGateway = status === 502 || status === 503 || status === 504;
  return reason === 'network' || reason === 'rate_limited' || reason === 'overloaded' || isGateway;
}

/** Up to the version, whatever of a route stands behind it; throws `ModelError` for an unusable address. */
export function openaiAddress(baseURL: string): string {
  const address = checkedAddress(baseURL).replace(/\/(chat\/completions|responses|embeddings)$/, '');
  return new URL(address).pathname === '/' ? `${address}/v1` : address;
}

/** What nobody says is taken to be small: a window taken too large sends prompts that cannot fit, or are cut without a word. */
const unknownWindow = 32_768;
/** Models that say nothing of their longest answer give way to the prompt. */
const unknownOutput = 8_192;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A model as a server lists it; undefined for anything else. OpenAI's list has only ids; OpenRouter adds `context_length` and
 * `top_provider` and what a request may say, vLLM `max_model_len`, LM Studio `loaded_context_length` and `max_context_length`, llama.cpp
 * `meta.n_ctx`.
 * `contextTokens`: what the user says, which goes before all of that.
 */
export function openaiModel(provider: string, listed: unknown, contextTokens: number | null): ModelInfo | undefined {
  if (typeof listed !== 'object' || listed === null) return undefined;
  const fields = listed as Fields;
  const { id, name } = fields;
  if (typeof id !== 'string' || id === '') return undefined;
  const meta = (fields['meta'] ?? {}) as Fields;
  const top = (fields['top_provider'] ?? {}) as Fields;
  const told = [
    fields['loaded_context_length'],
    top['context_length'],
    fields['context_length'],
    fields['max_model_len'],
    fields['context_window'],
    fields['max_context_length'],
    meta['n_ctx'],
  ].find(isSize);
  const window = contextTokens ?? told ?? unknownWindow;
  const maxOutput =
    [top['max_completion_tokens'], fields['max_completion_tokens'], fields['max_output_tokens']].find(isSize) ?? unknownOutput;
  const taken = fields['supported_parameters'];
  const thinking =
    Array.isArray(taken) && !taken.some((name) => name === 'reasoning' || name === 'reasoning_effort') ? { thinking: 'none' as const } : {};
  return {
    provider,
    id,
    name: typeof name === 'string' && name !== '' ? name : id,
    window,
    maxOutput: Math.min(maxOutput, window),
    source: contextTokens === null && told === undefined ? 'table' : 'provider',
    ...thinking,
  };
}
