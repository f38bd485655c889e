import type { Logger, ModelClient } from '../../../core/ports';
import { ModelError, type ModelEvent, type ModelFailure } from '../../../core/models/modelEvent';
import type { ModelInfo } from '../../../core/models/modelInfo';
import type { ModelRequest } from '../../../core/models/modelRequest';
import { english } from '../../../core/l10n';
import { checkedAddress, ModelHttp, type ModelHttpOptions } from '../modelHttp';
import { LearnedWindows, isSize } from '../modelTable';
import { logFailure } from '../streamAnswer';
import { OllamaAnswer } from './ollamaAnswer';
import { ollamaBody, thinkingControl, thinkValues, type ThinkValue } from './ollamaRequest';
import { estimateTokens } from '../../../core/context/measure/estimateTokens';

export interface OllamaClientOptions extends Omit<ModelHttpOptions, 'apiKey' | 'setting'> {
  /** The context to ask for, in tokens; null: what the model is loaded with, or a size that ordinary machines hold. */
  readonly contextTokens: number | null;
  readonly logger: Logger;
}

const ollamaProvider = 'ollama';
const ollamaBaseURL = 'http://localhost:11434';

/**
 * Without a wish of the user: the memory for a context grows with it, and models advertise more than a machine holds. A model
 * that is already loaded with more keeps that.
 */
const usualContext = 32_768;
const longestOutput = 8_192;

interface Known {
  readonly info: ModelInfo;
  readonly tools: boolean;
  readonly images: boolean;
  readonly thinks: readonly ThinkValue[];
}

/**
 * Ollama's own API: its OpenAI-compatible route ignores `num_ctx` and cuts every prompt to a few thousand tokens. The constructor
 * throws a `ModelError` for an unusable address.
 */
export class OllamaClient implements ModelClient {
  readonly provider = ollamaProvider;
  readonly generates = true;
  private readonly http: ModelHttp;
  private readonly logger: Logger;
  private readonly contextTokens: number | null;
  private takesSchemas = true;
  private readonly known = new Map<string, Known>();
  private readonly detectors = new Map<string, TruncationDetector>();
  private readonly compared = new Set<string>();
  /** What the server really holds of models whose prompts it has cut. */
  private readonly windows = new LearnedWindows(1 / 4);

  constructor({ logger, contextTokens, ...options }: OllamaClientOptions) {
    this.http = new ModelHttp({ ...options, setting: 'threadkeeper.ollama.baseUrl', apiKey: '', baseURL: ollamaAddress(options.baseURL) });
    this.logger = logger;
    this.contextTokens = contextTokens;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const { model } = request;
    let known: Known;
    try {
      known = await this.ask(model, signal);
    } catch (error) {
      const failure: ModelFailure = signal.aborted || !ModelError.is(error) ? { reason: 'cancelled', detail: '' } : error.failure;
      logFailure(this.logger, model, failure);
      yield { type: 'failed', failure };
      return;
    }
    const { answerSchema, ...plain } = request;
    const body = ollamaBody(answerSchema && !this.takesSchemas ? plain : request, {
      contextTokens: this.windows.limited(known.info).window,
      tools: known.tools,
      images: known.images,
      thinks: known.thinks,
    });
    const answer = new OllamaAnswer();
    for await (const event of this.http.stream('/api/chat', body, answer, signal)) {
      if (event.type === 'failed') {
        // Ollama before 0.5 takes no schema there; nothing was generated, so this is the same request in other words, not a retry.
        if (
          answerSchema &&
          this.takesSchemas &&
          event.failure.status === 400 &&
          /\bformat\b|\bschema\b|\bgrammar\b/i.test(event.failure.detail)
        ) {
          this.takesSchemas = false;
          yield* this.stream(request, signal);
          return;
        }
        this.windows.learn(model, event.failure);
        logFailure(this.logger, model, event.failure);
        yield event;
        continue;
      }
      if (event.type === 'stopped') void this.compareContext(model, signal);
      const cut = event.type === 'stopped' && answer.usage ? await this.truncation(request, body, answer.usage.input, signal) : null;
      if (cut) logFailure(this.logger, model, cut);
      yield cut ? { type: 'failed', failure: cut } : event;
    }
  }

  /** Models that cannot hold a conversation (embeddings) are left out where the server says so. */
  async listModels(signal?: AbortSignal): Promise<ModelInfo[]> {
    const names = listOf(await this.http.json('/api/tags', null, signal), 'models').flatMap(
      ({ name, model }) => [name, model].find((value) => typeof value === 'string') ?? [],
    );
    const found = await Promise.all(
      names.map((name) => this.ask(name, signal).catch((error: unknown) => (signal?.aborted ? Promise.reject(error) : null))),
    );
    return found.flatMap((known) => (known ? [this.windows.limited(known.info)] : []));
  }

  async describe(model: string, signal?: AbortSignal): Promise<ModelInfo> {
    return this.windows.limited((await this.ask(model, signal)).info);
  }

  /** Rejects with `ModelError`: the server is not there, does not have the model, or has it for something else than talking. */
  private async ask(model: string, signal: AbortSignal | undefined): Promise<Known> {
    const before = this.known.get(model);
    if (before) return before;
    const shown = (await this.http.json('/api/show', { model }, signal)) as Record<string, unknown>;
    const capabilities = Array.isArray(shown['capabilities']) ? (shown['capabilities'] as unknown[]) : null;
    if (capabilities && !capabilities.includes('completion'))
      throw new ModelError({ reason: 'unknown_model', detail: english('{0} is not a model to talk to.', model) });
    const thinks = thinkValues(shown, capabilities?.includes('thinking') ?? false);
    const most = largestContext(shown['model_info']);
    const loaded = this.contextTokens === null ? await this.loadedContext(model, signal).catch(() => undefined) : undefined;
    const wanted = this.contextTokens ?? Math.max(usualContext, loaded ?? 0);
    const window = Math.min(wanted, most ?? wanted);
    const info: ModelInfo = {
      provider: this.provider,
      id: model,
      name: model,
      window,
      maxOutput: Math.min(longestOutput, Math.ceil(window / 4)),
      source: most === undefined ? 'table' : 'provider',
      thinking: thinkingControl(thinks),
    };
    const known = { info, tools: capabilities?.includes('tools') ?? true, images: capabilities?.includes('vision') ?? false, thinks };
    this.known.set(model, known);
    return known;
  }

  /** The context that the model is in memory with; undefined when it is not. */
  private async loadedContext(model: string, signal: AbortSignal | undefined): Promise<number | undefined> {
    const running = listOf(await this.http.json('/api/ps', null, signal), 'models').find(({ name, model: id }) =>
      [name, id].some((one) => one === model || one === `${model}:latest`),
    );
    return isSize(running?.['context_length']) ? running['context_length'] : undefined;
  }

  /** Once per model: servers have limits of their own, and hold less than they were asked to without a word. Never rejects. */
  private async compareContext(model: string, signal: AbortSignal): Promise<void> {
    if (this.compared.has(model)) return;
    this.compared.add(model);
    const holds = await this.loadedContext(model, signal).catch(() => undefined);
    const asked = this.known.get(model)?.info.window ?? 0;
    if (holds === undefined || holds >= asked) return;
    this.logger.warn('ollama_context_smaller', { model, asked, holds });
    this.windows.learn(model, { reason: 'overflow', window: holds });
  }

  /** The failure that an answer to a cut prompt is: it was written without a part of the conversation. */
  private async truncation(
    request: ModelRequest,
    body: Record<string, unknown>,
    read: number,
    signal: AbortSignal,
  ): Promise<ModelFailure | null> {
    const { model } = request;
    let detector = this.detectors.get(model);
    if (!detector) this.detectors.set(model, (detector = new TruncationDetector()));
    const messages = body['messages'] as { content: string; tool_calls?: unknown; images?: unknown }[];
    // Nobody knows what a picture takes.
    if (messages.some(({ images: pictures }) => pictures !== undefined)) return null;
    const sent = JSON.stringify([messages.map(({ content, tool_calls: calls }) => [content, calls ?? []]), body['tools'] ?? []]);
    const expected = detector.check(sent, read);
    if (expected === null) return null;
    const holds = await this.loadedContext(model, signal).catch(() => undefined);
    // A server with room for it has cut nothing: its tokens are longer than we think.
    if (holds !== undefined && holds >= expected) return null;
    const detail = english(
      "Ollama cut the prompt without saying so: it read {0} of about {1} tokens. Give it more with the setting threadkeeper.ollama.contextTokens or the server's OLLAMA_CONTEXT_LENGTH.",
      read.toLocaleString('en'),
      expected.toLocaleString('en'),
    );
    const failure: ModelFailure = { reason: 'overflow', detail, window: holds ?? read };
    this.windows.learn(model, failure);
    return failure;
  }
}

/** An empty address is this machine; throws `ModelError` for an unusable one. */
export function ollamaAddress(baseURL: string): string {
  return checkedAddress(baseURL || ollamaBaseURL).replace(/\/(api|v1)$/, '');
}

/** `model_info` has it under the name of the architecture: `llama.context_length`. */
function largestContext(info: unknown): number | undefined {
  if (typeof info !== 'object' || info === null) return undefined;
  return Object.entries(info).find((entry): entry is [string, number] => entry[0].endsWith('.context_length') && isSize(entry[1]))?.[1];
}

function listOf(body: unknown, name: string): Record<string, unknown>[] {
  const value = (body as Record<string, unknown> | null)?.[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** Share of the expected tokens below which some are missing: before the model's tokenizer is known, and when it is. */
const unlearnedShare = 0.6;
const learnedShare = 0.85;
/** Measurements that make the ratio known. */
const enough = 2;
/** Templates and framing; below this an estimate says little. */
const smallest = 500;
/** Weight of a new measurement among those before. */
const learning = 0.3;

/**
 * Whether a server has read the whole prompt, for servers that cut what does not fit and say nothing (ollama#17889). The count it
 * reports is held against our estimate, corrected by what was learned of the model's tokenizer.
 */
export class TruncationDetector {
  /** Reported tokens per estimated one. English and code have 0.8–1.3 with any tokenizer in use. */
  private ratio = 1;
  private measured = 0;

  /** The tokens that the prompt should have had, when far fewer have been read; null when all is well. */
  check(sent: string, read: number): number | null {
    const estimate = estimateTokens(sent);
    const expected = Math.round(estimate * this.ratio);
    if (expected >= smallest && read < expected * (this.measured < enough ? unlearnedShare : learnedShare)) return expected;
    if (estimate >= smallest) {
      this.ratio += (read / estimate - this.ratio) * (this.measured === 0 ? 1 : learning);
      this.measured++;
    }
    return null;
  }
}
