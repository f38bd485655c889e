import type { Logger, ModelClient } from '../../core/ports';
import { ModelError } from '../../core/models/modelEvent';
import { english } from '../../core/l10n';
import type { OpenaiApi } from './openai/openaiDialect';

/** A provider of models (`providerIds`) and how it is reached. */
export type ProviderAccess =
  | {
      readonly provider: 'anthropic';
      readonly apiKey: string;
      /** Empty: the provider's own address. */
      readonly baseURL: string;
    }
  | {
      readonly provider: 'openai-compatible';
      /** Empty: the server wants none. */
      readonly apiKey: string;
      readonly baseURL: string;
      readonly api: OpenaiApi;
      /** Every model has a window of so many tokens; null takes what the server says. */
      readonly contextTokens: number | null;
    }
  | {
      readonly provider: 'ollama';
      /** Empty: this machine. */
      readonly baseURL: string;
      /** The server is asked for so many tokens; null lets the client decide. */
      readonly contextTokens: number | null;
    }
  /** What the program runs in brings along. */
  | { readonly provider: 'vscode' };

/** Loads the provider's code with its first client: neither activation nor offline mode pays for it. Rejects with `ModelError`. */
export async function createClient(access: Exclude<ProviderAccess, { provider: 'vscode' }>, logger: Logger): Promise<ModelClient> {
  switch (access.provider) {
    case 'anthropic': {
      const { AnthropicClient } = await import('./anthropic/anthropicClient');
      return new AnthropicClient({ ...access, logger });
    }
    case 'openai-compatible': {
      if (access.baseURL === '')
        throw new ModelError({
          reason: 'invalid_request',
          detail: english('No address is set for the OpenAI-compatible server: see the setting threadkeeper.openaiCompatible.baseUrl.'),
        });
      const { OpenaiCompatibleClient } = await import('./openai/openaiCompatibleClient');
      return new OpenaiCompatibleClient({ ...access, logger });
    }
    case 'ollama': {
      const { OllamaClient } = await import('./ollama/ollamaClient');
      return new OllamaClient({ ...access, logger });
    }
  }
}
