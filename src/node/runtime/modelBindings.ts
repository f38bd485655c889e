import type { ModelBinding } from '../../core/context/engine';
import { ModelError } from '../../core/chat/modelError';
import type { SummarizerEntry } from '../../core/context/policy';
import type { Logger, ModelClient, ModelInfo, Summarizer } from '../../core/ports';

export const offlineModelId = 'offline';

/** Which model to use and how to reach it. */
export type ModelChoice =
  | { readonly provider: 'offline' }
  | {
      readonly provider: 'anthropic';
      readonly apiKey: string;
      /** Empty: the provider's own address. */
      readonly baseURL: string;
      /** Empty: the newest Sonnet-class model the key may use. */
      readonly model: string;
      /** Cap on the window in tokens, for tests and headless runs. */
      readonly window?: number;
    };

/**
 * Turns a choice into something a turn can be sent to. Clients are kept per key and address; the SDK is loaded with the first
 * one, so that neither activation nor offline mode pays for it.
 */
export class ModelBindings {
  private client: { readonly apiKey: string; readonly baseURL: string; readonly client: ModelClient } | null = null;
  private models: { readonly client: ModelClient; readonly list: Promise<readonly ModelInfo[]> } | null = null;
  /** Models that have shown that they cannot go on from a conversation with its summary. */
  private readonly declined = new Set<string>();
  private chosen: { readonly client: ModelClient; readonly model: string } | null = null;

  constructor(
    private readonly offline: ModelClient,
    private readonly log: Logger,
  ) {}

  /** Rejects with `ModelError`: no key, an unusable address, a model nobody knows. */
  async resolve(choice: ModelChoice): Promise<ModelBinding> {
    if (choice.provider === 'offline') return { client: this.offline, info: await this.offline.describe(offlineModelId), summarizer: null };
    const client = await this.anthropic(choice);
    const described = await client.describe(choice.model === '' ? await this.automatic(client) : choice.model);
    const info: ModelInfo = choice.window ? { ...described, window: Math.min(described.window, choice.window) } : described;
    const { ModelSummarizer } = await import('../models/modelSummarizer');
    const summarizer = new ModelSummarizer({ client, model: info.id, contextTokens: info.window, continuing: this.continuing(client, info) });
    return { client, info, summarizer, chain: (entries) => this.chain(entries, client, info) };
  }

  /** What of a policy's list there is a provider for. Never rejects. */
  private async chain(entries: readonly SummarizerEntry[], client: ModelClient, session: ModelInfo): Promise<readonly Summarizer[]> {
    const { ModelSummarizer } = await import('../models/modelSummarizer');
    const { summaryModel } = await import('../models/chooseDefaultModel');
    const found: Summarizer[] = [];
    for (const { provider, model, contextTokens, timeoutSeconds } of entries) {
      try {
        if (provider !== 'session' && provider !== client.provider) throw new Error(`There is no provider "${provider}".`);
        const listed = model === 'cheapest' || model === 'best' ? summaryModel(await this.listed(client), model) : undefined;
        const info = model === 'session' ? session : (listed ?? (model === 'cheapest' || model === 'best' ? session : await client.describe(model)));
        if (found.some((one) => one.model === info.id)) continue;
        const continuing = info.id === session.id ? { continuing: this.continuing(client, session) } : {};
        found.push(new ModelSummarizer({ client, model: info.id, contextTokens: Math.min(contextTokens ?? info.window, info.window), timeoutMs: timeoutSeconds * 1_000, ...continuing }));
      } catch (error) {
        this.log.warn('summarizer_not_available', { provider, model, detail: error instanceof Error ? error.message : String(error) });
      }
    }
    return found;
  }

  private continuing(client: ModelClient, { id }: ModelInfo): { readonly from: string; readonly declined: Set<string> } {
    return { from: `${client.provider}/${id}`, declined: this.declined };
  }

  /** Asked once per client. */
  private listed(client: ModelClient): Promise<readonly ModelInfo[]> {
    if (this.models?.client !== client) this.models = { client, list: client.listModels().catch(() => []) };
    return this.models.list;
  }

  /** The models the key may use. Rejects with `ModelError`. */
  async list(choice: Extract<ModelChoice, { provider: 'anthropic' }>): Promise<ModelInfo[]> {
    return (await this.anthropic(choice)).listModels();
  }

  private async anthropic({ apiKey, baseURL }: { readonly apiKey: string; readonly baseURL: string }): Promise<ModelClient> {
    if (this.client?.apiKey === apiKey && this.client.baseURL === baseURL) return this.client.client;
    if (apiKey === '') throw new ModelError({ reason: 'no_key', detail: '' });
    const { AnthropicClient } = await import('../models/anthropicClient');
    const client = new AnthropicClient({ apiKey, baseURL, logger: this.log });
    this.client = { apiKey, baseURL, client };
    return client;
  }

  /** Asked once per client; when the list cannot be had, a known model is as good a guess as any. */
  private async automatic(client: ModelClient): Promise<string> {
    if (this.chosen?.client === client) return this.chosen.model;
    const { chooseDefaultModel } = await import('../models/chooseDefaultModel');
    const { fallbackModel } = await import('../models/modelTable');
    try {
      const model = chooseDefaultModel(await client.listModels())?.id ?? fallbackModel;
      this.chosen = { client, model };
      return model;
    } catch (error) {
      if (ModelError.is(error) && error.failure.reason === 'bad_key') throw error;
      this.log.warn('models_not_listed', { detail: error instanceof Error ? error.message : String(error), using: fallbackModel });
      return fallbackModel;
    }
  }
}
