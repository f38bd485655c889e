import * as z from 'zod/mini';
import { errorText } from '../../core/errors';
import { forTask, type TextTask } from '../../core/embeddings/embeddings';
import { quantised } from '../../core/embeddings/vectors';
import { ModelError } from '../../core/models/modelEvent';
import { english } from '../../core/l10n';
import { checkedKey, ModelHttp } from '../models/modelHttp';
import { ollamaAddress } from '../models/ollama/ollamaClient';
import { openaiAddress } from '../models/openai/openaiCompatibleClient';
import type { ProviderAccess } from '../models/providerAccess';

const embeddingSetting = 'threadkeeper.recall.embeddings';

/** A model that is not in memory yet is loaded first, and a machine without a graphics card takes a second for a page. */
const requestMs = 60_000;

const Vector = z.array(z.number()).check(z.minLength(1), z.maxLength(8_192));
const OllamaAnswer = z.object({ embeddings: z.array(Vector) });
const OpenaiAnswer = z.object({ data: z.array(z.object({ index: z.optional(z.int()), embedding: Vector })) });

/** A server with an embedding model, over Ollama's `/api/embed` or OpenAI's `/v1/embeddings`. The constructor throws a `ModelError`. */
export class EmbeddingEndpoint {
  private readonly http: ModelHttp;
  private readonly isOllama: boolean;

  constructor(
    access: Extract<ProviderAccess, { provider: 'ollama' | 'openai-compatible' }>,
    private readonly model: string,
  ) {
    this.isOllama = access.provider === 'ollama';
    this.http = new ModelHttp({
      baseURL: this.isOllama ? ollamaAddress(access.baseURL) : openaiAddress(access.baseURL),
      apiKey: access.provider === 'openai-compatible' ? checkedKey(access.apiKey) : '',
      setting: embeddingSetting,
      timeouts: { smallMs: requestMs },
    });
  }

  /** One quantised vector for each text, in their order. Rejects with `ModelError`. */
  async embed(texts: readonly string[], task: TextTask, signal?: AbortSignal): Promise<number[][]> {
    const { model } = this;
    const input = texts.map((text) => forTask(text, task, model));
    const answer = this.isOllama
      ? await this.http.json('/api/embed', { model, input, truncate: true }, signal)
      : await this.http.json('/embeddings', { model, input, encoding_format: 'float' }, signal);
    const vectors = this.isOllama ? parsed(OllamaAnswer, answer).embeddings : inOrder(parsed(OpenaiAnswer, answer).data);
    const [first] = vectors;
    if (vectors.length !== texts.length || vectors.some((vector) => vector.length !== first?.length))
      throw unusable(english('{0} texts were asked for, {1} vectors came.', texts.length, vectors.length));
    return vectors.map(quantised);
  }
}

/** What is wrong with the endpoint, in words for the user. */
export function problemOf(error: unknown): string {
  if (!ModelError.is(error)) return errorText(error);
  const { reason, detail } = error.failure;
  switch (reason) {
    case 'network':
    case 'overloaded':
    case 'rate_limited':
      return english('The embedding server does not answer: {0}', detail);
    case 'no_key':
    case 'bad_key':
      return english('The embedding server refuses the key: {0}', detail);
    case 'redirected':
      return detail;
    default:
      return english('The embedding server cannot do it: {0}', detail);
  }
}

function inOrder(data: z.infer<typeof OpenaiAnswer>['data']): number[][] {
  return data
    .map((one, at) => ({ at: one.index ?? at, vector: one.embedding }))
    .sort((a, b) => a.at - b.at)
    .map(({ vector }) => vector);
}

function parsed<T>(schema: z.ZodMiniType<T>, answer: unknown): T {
  const found = schema.safeParse(answer);
  if (!found.success) throw unusable(english('The answer has no vectors.'));
  return found.data;
}

function unusable(detail: string): ModelError {
  return new ModelError({ reason: 'invalid_request', detail });
}
