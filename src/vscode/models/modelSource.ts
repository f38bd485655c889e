import { ModelError, type ModelEvent } from '../../core/models/modelEvent';
import type { ModelBinding } from '../../core/context/engine';
import type { Logger, ModelClient } from '../../core/ports';
import type { OpenaiApi } from '../../node/models/openai/openaiDialect';
import type { ModelInfo } from '../../core/models/modelInfo';
import { english, shown } from '../../core/l10n';
import type { ModelBindings, ModelChoice } from '../../node/runtime/modelBindings';
import { offlineModelId } from '../../node/runtime/modelBindings';
import { isProviderId, providerIds, type ProviderId } from '../../core/models/providers';
import type { ProviderAccess } from '../../node/models/providerAccess';
import { fallbackModel, modelFromTable } from '../../node/models/modelTable';
import type { Connection } from '../../protocol/messages';
import type { ApiKeys } from './apiKeys';
import { endpointOf, type Endpoint } from './endpoint';
import { wantedModel, type WantedModel } from './modelChoice';
import type { ModelNames } from './modelNames';

export interface ModelSourceDeps {
  readonly keys: Pick<ApiKeys, 'find' | 'expected'>;
  /** Rejects when there is no store: offline answers need one. */
  readonly bindings: () => Promise<ModelBindings>;
  readonly endpoint: () => Endpoint;
  /** Addresses of the other providers; an empty one stands for none, or (Ollama) for this machine. */
  readonly others: () => {
    readonly openaiUrl: string;
    readonly openaiApi: OpenaiApi;
    readonly openaiContext: number;
    readonly ollamaUrl: string;
    readonly ollamaContext: number;
  };
  readonly setting: () => string;
  readonly offlineChosen: () => boolean;
  readonly names: ModelNames;
  readonly log: Logger;
  /** How long opening a session waits for the provider before it goes on with what the table says. */
  readonly patienceMs?: number;
}

/** From a session's wish to a model that a turn can be sent to. */
export class ModelSource {
  readonly names: ModelNames;

  constructor(private readonly deps: ModelSourceDeps) {
    this.names = deps.names;
  }

  /** Rejects with `ModelError`: no key for a model that needs one, a key that is refused, a model nobody knows. */
  async resolve(session: string | null): Promise<ModelBinding> {
    const wanted = this.wanted(session);
    const choice: ModelChoice = wanted.provider === 'offline' ? { provider: 'offline' } : await this.choice(wanted);
    const binding = await (await this.deps.bindings()).resolve(choice);
    this.names.learn([binding.info]);
    return binding;
  }

  /**
   * Like `resolve`, but does not keep a session closed because a network is slow: rejects with a `ModelError` when the provider
   * has not answered in time, and calls `later` when it has.
   */
  async resolveInTime(session: string | null, later: () => void): Promise<ModelBinding> {
    const binding = this.resolve(session);
    let timer: NodeJS.Timeout | undefined;
    let isLate = false;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        isLate = true;
        reject(new ModelError({ reason: 'network', detail: english('The provider has not answered yet.') }));
      }, this.deps.patienceMs ?? 1_500);
    });
    binding.then(
      () => isLate && later(),
      () => undefined,
    );
    try {
      return await Promise.race([binding, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What a session shows until its model is resolved: sizes from the table, and a client that nothing is sent to. */
  fallback(session: string | null): ModelBinding {
    const wanted = this.wanted(session);
    const isOffline =
      wanted.provider === 'offline' || (wanted.provider === 'automatic' && this.keySource() === 'missing' && !this.hasServer());
    const id = 'model' in wanted ? wanted.model : '';
    const provider =
      wanted.provider === 'automatic' ? (this.keySource() === 'missing' ? 'openai-compatible' : 'anthropic') : wanted.provider;
    const info: ModelInfo | undefined = isOffline
      ? offlineInfo
      : provider === 'anthropic'
        ? modelFromTable('anthropic', id || fallbackModel)
        : undefined;
    return {
      client: new UnresolvedModel(!isOffline),
      info: info ?? {
        ...unknownInfo,
        provider,
        id,
        name: this.names.of(id) || unknownInfo.name,
        window: provider === 'anthropic' ? unknownInfo.window : 32_768,
      },
      summarizer: null,
    };
  }

  /** A provider's models. Rejects with `ModelError`. */
  async list(provider: ProviderId = 'anthropic'): Promise<ModelInfo[]> {
    const models = await (await this.deps.bindings()).list(await this.reach(provider, undefined));
    this.names.learn(models);
    return models;
  }

  /** The models of every provider that is set up. One that does not answer is named; Ollama's is set up by running. Never rejects. */
  async listAll(): Promise<{ readonly models: readonly ModelInfo[]; readonly silent: readonly ProviderId[] }> {
    const asked = providerIds.filter((provider) => this.isSetUp(provider));
    const lists = await Promise.all(asked.map((provider) => this.list(provider).catch(() => null)));
    return {
      models: lists.flatMap((list) => list ?? []),
      silent: asked.filter((provider, at) => lists[at] === null && provider !== 'ollama'),
    };
  }

  private isSetUp(provider: ProviderId): boolean {
    switch (provider) {
      case 'anthropic':
        return this.hasKey();
      case 'openai-compatible':
        return this.hasServer();
      case 'ollama':
      case 'vscode':
        return true;
    }
  }

  /** How a provider is reached, at another address than the settings' if one is named. Rejects with `ModelError`. */
  async reach(provider: ProviderId, url: string | undefined): Promise<ProviderAccess> {
    const { openaiUrl, openaiApi, openaiContext, ollamaUrl, ollamaContext } = this.deps.others();
    switch (provider) {
      case 'anthropic': {
        const endpoint = url === undefined ? this.deps.endpoint() : endpointOf(url);
        const key = await this.deps.keys.find(endpoint);
        if (!key) throw new ModelError({ reason: 'no_key', detail: '' });
        return { provider, apiKey: key.key, baseURL: endpoint.baseUrl };
      }
      case 'openai-compatible': {
        const endpoint = endpointOf(url ?? openaiUrl, provider);
        if (endpoint.baseUrl === '')
          throw new ModelError({
            reason: 'invalid_request',
            detail: english('No address is set for the OpenAI-compatible server: see the setting threadkeeper.openaiCompatible.baseUrl.'),
          });
        return {
          provider,
          apiKey: (await this.deps.keys.find(endpoint))?.key ?? '',
          baseURL: endpoint.baseUrl,
          api: openaiApi,
          contextTokens: openaiContext || null,
        };
      }
      case 'ollama':
        return { provider, baseURL: url ?? ollamaUrl, contextTokens: ollamaContext || null };
      case 'vscode':
        return { provider };
    }
  }

  /** Something can answer in a session that has no model of its own. */
  hasDefault(): boolean {
    return this.hasKey() || this.hasServer() || this.deps.setting() !== '';
  }

  /** An OpenAI-compatible server is set. */
  hasServer(): boolean {
    return this.deps.others().openaiUrl !== '';
  }

  /** As far as is known without asking the keychain. */
  hasKey(): boolean {
    return this.keySource() !== 'missing';
  }

  connection({ provider, name }: Pick<ModelInfo, 'provider' | 'name'>): Connection {
    return {
      provider: isProviderId(provider) ? provider : 'offline',
      modelName: shown(name),
      key: provider === 'anthropic' || provider === 'offline' ? this.keySource() : 'not_needed',
      offlineChosen: this.deps.offlineChosen(),
    };
  }

  private keySource(): Connection['key'] {
    return this.deps.keys.expected(this.deps.endpoint()) ?? 'missing';
  }

  private wanted(session: string | null): WantedModel {
    return wantedModel({ session, setting: this.deps.setting(), offlineChosen: this.deps.offlineChosen() });
  }

  private async choice(wanted: Exclude<WantedModel, { provider: 'offline' }>): Promise<ModelChoice> {
    if (wanted.provider !== 'automatic') return { ...(await this.reach(wanted.provider, undefined)), model: wanted.model };
    const isClaude = (await this.deps.keys.find(this.deps.endpoint())) !== undefined;
    if (!isClaude && !this.hasServer()) return { provider: 'offline' };
    return { ...(await this.reach(isClaude ? 'anthropic' : 'openai-compatible', undefined)), model: '' };
  }
}

const offlineInfo: ModelInfo = {
  provider: 'offline',
  id: offlineModelId,
  name: english('Offline'),
  window: 200_000,
  maxOutput: 8_192,
  source: 'table',
};
const unknownInfo: ModelInfo = {
  provider: 'anthropic',
  id: '',
  name: english('Unknown model'),
  window: 200_000,
  maxOutput: 8_192,
  source: 'table',
};

/** Every turn resolves its model first, so this is only ever asked by mistake. */
class UnresolvedModel implements ModelClient {
  readonly provider = 'unresolved';

  constructor(readonly generates: boolean) {}

  async *stream(): AsyncGenerator<ModelEvent> {
    yield { type: 'failed', failure: { reason: 'network', detail: english('The model has not been resolved yet.') } };
  }

  async listModels(): Promise<ModelInfo[]> {
    return [];
  }

  async describe(model: string): Promise<ModelInfo> {
    throw new ModelError({ reason: 'unknown_model', detail: model });
  }
}
