import { ModelError } from '../../core/models/modelEvent';
import { providerIds, type ProviderId } from '../../core/models/providers';
import type { ProviderAccess } from '../models/providerAccess';
import { openaiApis } from '../models/openai/openaiDialect';
import { offlineModelId, type ModelChoice } from '../runtime/modelBindings';
import { positiveInteger, UsageError, type Flags, type FlagSpec } from './flags';

/** The providers that need no VS Code. */
const providers = providerIds.filter((id) => id !== 'vscode');

export const providerFlags: readonly FlagSpec[] = [
  {
    name: 'provider',
    value: 'PROVIDER',
    choices: providers,
    hint: `Nobody has to answer with --model ${offlineModelId}.`,
    help: 'who answers; default: anthropic',
  },
  { name: 'base-url', value: 'URL', help: "address of the provider's API; default: its own, or this machine for ollama" },
  { name: 'api', value: 'API', choices: openaiApis, help: 'interface of an openai-compatible server; default: chat-completions' },
  { name: 'model', value: 'MODEL', required: true, help: 'model id, or "offline" for search without a model' },
  { name: 'window', value: 'TOKENS', help: "use at most this much of the model's window" },
];

export interface ProviderFlags {
  readonly choice: ModelChoice;
  /** Summarisers at another provider, or another address, use it. Rejects with `ModelError`. */
  readonly reach: (provider: ProviderId, url: string | undefined) => Promise<ProviderAccess>;
  /** What no line of the log may contain. */
  readonly secrets: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Who answers, from the flags and the environment's keys. Throws `UsageError`. */
export function parseProviderFlags(flags: Flags, env: Environment): ProviderFlags {
  const window = positiveInteger(flags, 'window');
  const keys = { anthropic: env['ANTHROPIC_API_KEY']?.trim() ?? '', 'openai-compatible': env['OPENAI_API_KEY']?.trim() ?? '' };
  const baseURL = flags['base-url'] ?? '';
  const provider = providers.find((id) => id === flags['provider']) ?? 'anthropic';
  const api = openaiApis.find((one) => one === flags['api']) ?? 'chat-completions';
  const model = flags['model']!;
  const reach = async (asked: ProviderId, url: string | undefined): Promise<ProviderAccess> => {
    // A key goes to the address it was given for and to no other.
    const own = asked === provider && (url === undefined || sameOrigin(url, baseURL));
    const at = url ?? (asked === provider ? baseURL : '');
    switch (asked) {
      case 'anthropic':
        if (keys.anthropic === '' || (url !== undefined && !own)) throw new ModelError({ reason: 'no_key', detail: '' });
        return { provider: asked, apiKey: keys.anthropic, baseURL: at };
      case 'openai-compatible':
        return { provider: asked, apiKey: own ? keys[asked] : '', baseURL: at, api, contextTokens: null };
      case 'ollama':
        return { provider: asked, baseURL: at, contextTokens: null };
      case 'vscode':
        throw new ModelError({ reason: 'unknown_model', detail: 'VS Code language models exist only inside VS Code.' });
    }
  };
  return { choice: choiceOf(), reach, secrets: Object.values(keys).filter((key) => key !== '') };

  function choiceOf(): ModelChoice {
    if (model === offlineModelId) return { provider: 'offline' };
    switch (provider) {
      case 'openai-compatible':
        if (baseURL === '') throw new UsageError('--provider openai-compatible needs --base-url, for example http://localhost:1234/v1.');
        return { provider, apiKey: keys[provider], baseURL, api, model, contextTokens: window ?? null };
      case 'ollama':
        return { provider, baseURL, model, contextTokens: window ?? null };
      case 'anthropic':
        if (keys.anthropic === '') throw new UsageError('ANTHROPIC_API_KEY is not set. Set it, or use --model offline.');
        return { provider, apiKey: keys.anthropic, baseURL, model, ...(window ? { window } : {}) };
    }
  }
}

function sameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}
