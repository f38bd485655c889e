import type { ModelBinding } from '../../core/context/engine';
import { type BudgetGate, withBudget } from '../../core/cost/budgetedClient';
import { ModelError, type ModelFailure } from '../../core/models/modelEvent';
import { errorText } from '../../core/errors';
import { english } from '../../core/l10n';
import type { SummarizerEntry } from '../../core/context/policy/policy';
import type { Logger, ModelClient, Summarizer } from '../../core/ports';
import type { ModelInfo } from '../../core/models/modelInfo';
import { isProviderId, type ProviderId } from '../../core/models/providers';
import { createClient, type ProviderAccess } from '../models/providerAccess';

export const offlineModelId = 'offline';

/** Which model to use and how to reach it. */
export type ModelChoice =
  | { readonly provider: 'offline' }
  | (ProviderAccess & {
      /** Empty: the newest Sonnet-class model the key may use, or the first one that the provider lists. */
      readonly model: string;
      /** Cap on the window in tokens, for tests and headless runs. */
      readonly window?: number;
    });

export interface ModelBindingsOptions {
  /** Null: there is no history to search. */
  readonly offline: ModelClient | null;
  readonly log: Logger;
  /** How a provider is reached, at another address than usual if one is named. Rejects with `ModelError`: no key, no address. */
  readonly reach?: (provider: ProviderId, url: string | undefined) => Promise<ProviderAccess>;
  /** Models of the program that this runs in. */
  readonly hosted?: HostedModels;
  /** Asked before every request that costs. Omitted: there is no budget. */
  readonly budget?: BudgetGate;
  readonly now?: () => number;
}

export interface HostedModels extends ModelClient {
  /** The user has not yet been asked whether the model may be used. */
  needsConsent(model: string): boolean;
}

/** A refused key is not tried again before that, whoever asks: opening a session, its first turn, and the list of models. */
const refusedForMs = 30_000;

/** Turns a choice into something a turn can be sent to. Clients are kept per key and address. */
export class ModelBindings {
  private readonly clients = new Map<string, { readonly access: string; readonly client: Promise<ModelClient> }>();
  private readonly models = new WeakMap<ModelClient, Promise<readonly ModelInfo[]>>();
  private readonly chosen = new WeakMap<ModelClient, string>();
  private readonly refusals = new WeakMap<ModelClient, { readonly failure: ModelFailure; readonly at: number }>();
  /** Models that have shown that they cannot go on from a conversation with its summary. */
  private readonly declined = new Set<string>();

  constructor(private readonly options: ModelBindingsOptions) {}

  /** Rejects with `ModelError`: no key, a refused one, an unusable address, a model nobody knows. */
  async resolve(choice: ModelChoice): Promise<ModelBinding> {
    const { offline, budget } = this.options;
    if (choice.provider === 'offline') {
      if (!offline) throw new ModelError({ reason: 'unknown_model', detail: '' });
      return { client: offline, info: await offline.describe(offlineModelId), summarizer: null };
    }
    const client = await this.client(choice);
    const described = await this.unlessRefused(client, async () =>
      client.describe(choice.model === '' ? await this.automatic(client) : choice.model),
    );
    const info: ModelInfo = choice.window ? { ...described, window: Math.min(described.window, choice.window) } : described;
    const binding: ModelBinding = {
      client,
      info,
      summarizer: await this.summarizer(client, info, { continuing: info }),
      chain: (entries) => this.chain(entries, client, info),
    };
    return budget ? withBudget(binding, budget) : binding;
  }

  /** The models that the key may use. Rejects with `ModelError`. */
  async list(access: ProviderAccess): Promise<ModelInfo[]> {
    const client = await this.client(access);
    return this.unlessRefused(client, () => client.listModels());
  }

  /** What of a policy's list there is a provider for. Never rejects. */
  private async chain(entries: readonly SummarizerEntry[], client: ModelClient, session: ModelInfo): Promise<readonly Summarizer[]> {
    const { summaryModel } = await import('../models/chooseDefaultModel');
    const found: { readonly client: ModelClient; readonly summarizer: Summarizer }[] = [];
    for (const { provider, model, url, contextTokens, timeoutSeconds, serverSide = false } of entries) {
      try {
        const isSession = provider === 'session' || (provider === client.provider && url === undefined);
        const asked = isSession ? client : await this.other(provider, url, contextTokens);
        if (serverSide && asked.compacts !== true) throw new Error(`${asked.provider} does not compact a conversation by itself.`);
        const isClass = model === 'cheapest' || model === 'best';
        // Names of classes are Claude's; elsewhere the conversation's own model, or the first there is, stands in.
        const listed = isClass ? summaryModel(await this.listed(asked), model) : undefined;
        const stand = async () => (isSession ? session : asked.describe((await this.listed(asked))[0]?.id ?? ''));
        const info = listed ?? (isClass || model === 'session' ? await stand() : await asked.describe(model));
        if (
          found.some(
            (one) => one.client === asked && one.summarizer.model === info.id && (one.summarizer.serverSide === true) === serverSide,
          )
        )
          continue;
        const continuing = asked === client && info.id === session.id ? { continuing: session } : {};
        found.push({
          client: asked,
          summarizer: await this.summarizer(
            asked,
            { ...info, window: Math.min(contextTokens ?? info.window, info.window) },
            { timeoutMs: timeoutSeconds * 1_000, serverSide, ...continuing },
          ),
        });
      } catch (error) {
        this.options.log.warn('summarizer_not_available', { provider, model, detail: errorText(error) });
      }
    }
    return found.map(({ summarizer }) => summarizer);
  }

  private async summarizer(
    client: ModelClient,
    info: ModelInfo,
    {
      continuing,
      timeoutMs,
      serverSide = false,
    }: { readonly continuing?: ModelInfo; readonly timeoutMs?: number; readonly serverSide?: boolean },
  ): Promise<Summarizer> {
    const { ModelSummarizer } = await import('../models/modelSummarizer');
    const { hosted } = this.options;
    return new ModelSummarizer({
      client,
      model: info.id,
      contextTokens: info.window,
      serverSide,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(continuing ? { continuing: { from: `${client.provider}/${continuing.id}`, declined: this.declined } } : {}),
      ...(client === hosted ? { needsConsent: () => hosted.needsConsent(info.id) } : {}),
    });
  }

  /** A provider that the conversation does not use. Rejects with an error that says why it cannot be used. */
  private async other(provider: string, url: string | undefined, contextTokens: number | undefined): Promise<ModelClient> {
    if (!isProviderId(provider) || !this.options.reach) throw new Error(`There is no provider "${provider}".`);
    const access = await this.options.reach(provider, url);
    return this.client('contextTokens' in access && contextTokens !== undefined ? { ...access, contextTokens } : access);
  }

  /** Asked once per client. */
  private listed(client: ModelClient): Promise<readonly ModelInfo[]> {
    let list = this.models.get(client);
    if (!list) this.models.set(client, (list = client.listModels().catch(() => [])));
    return list;
  }

  private async client(access: ProviderAccess): Promise<ModelClient> {
    const { hosted, log } = this.options;
    if (access.provider === 'vscode') {
      if (!hosted) throw new ModelError({ reason: 'unknown_model', detail: english('VS Code language models exist only inside VS Code.') });
      return hosted;
    }
    if (access.provider === 'anthropic' && access.apiKey === '') throw new ModelError({ reason: 'no_key', detail: '' });
    // What a choice has besides is no part of the way to the provider.
    const { provider, baseURL } = access;
    const contextTokens = 'contextTokens' in access ? access.contextTokens : null;
    const way = JSON.stringify([provider, baseURL, contextTokens, 'api' in access ? access.api : null]);
    const exact = JSON.stringify([way, 'apiKey' in access ? access.apiKey : '']);
    const known = this.clients.get(way);
    if (known?.access === exact) return known.client;
    const client = createClient(access, log);
    this.clients.set(way, { access: exact, client });
    // One that cannot be made is not kept.
    client.catch(() => this.clients.delete(way));
    return client;
  }

  private async unlessRefused<T>(client: ModelClient, ask: () => Promise<T>): Promise<T> {
    const { now = Date.now } = this.options;
    const before = this.refusals.get(client);
    if (before && now() - before.at < refusedForMs) throw new ModelError(before.failure);
    try {
      return await ask();
    } catch (error) {
      if (ModelError.is(error) && error.failure.reason === 'bad_key') this.refusals.set(client, { failure: error.failure, at: now() });
      throw error;
    }
  }

  /** Asked once per client; when the list cannot be had, a known model is as good a guess as any. */
  private async automatic(client: ModelClient): Promise<string> {
    const before = this.chosen.get(client);
    if (before !== undefined) return before;
    const { chooseDefaultModel } = await import('../models/chooseDefaultModel');
    const { fallbackModel } = await import('../models/modelTable');
    const isClaude = client.provider === 'anthropic';
    try {
      const model = chooseDefaultModel(await client.listModels())?.id ?? (isClaude ? fallbackModel : undefined);
      if (model === undefined) throw new ModelError({ reason: 'unknown_model', detail: english('The provider offers no model.') });
      this.chosen.set(client, model);
      return model;
    } catch (error) {
      if (!isClaude || (ModelError.is(error) && error.failure.reason === 'bad_key')) throw error;
      this.options.log.warn('models_not_listed', { detail: errorText(error), using: fallbackModel });
      return fallbackModel;
    }
  }
}
