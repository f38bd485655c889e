import { ModelError } from '../../core/models/modelEvent';
import type { EmbeddingChoice } from '../../core/embeddings/embeddings';
import type { Logger } from '../../core/ports';
import { Embeddings } from '../embeddings/embeddings';
import type { ProviderId } from '../../core/models/providers';
import type { ProviderAccess } from '../models/providerAccess';
import { systemClock } from '../runtime/systemClock';
import { UsageError, type Flags, type FlagSpec } from './flags';

export const embeddingFlags: readonly FlagSpec[] = [
  {
    name: 'embeddings',
    value: 'PROVIDER/MODEL',
    help: 'finds by meaning, too, with this embedding model: ollama/nomic-embed-text, openai-compatible/text-embedding-3-small',
  },
  { name: 'embeddings-url', value: 'URL', help: 'address of its server; default: this machine for ollama' },
];

type Environment = Readonly<Record<string, string | undefined>>;

/** A key of its own: that of the conversation's provider may be for another server. */
const keyVariable = 'THREADKEEPER_EMBEDDINGS_KEY';

export const embeddingKeyHelp = `A server that wants a key for its embeddings gets the one in ${keyVariable}.`;

/** Null where the flags name no model. Throws `UsageError`. */
export function embeddingChoice(flags: Flags): EmbeddingChoice | null {
  const { embeddings, 'embeddings-url': url } = flags;
  if (embeddings === undefined) {
    if (url !== undefined) throw new UsageError('--embeddings-url needs --embeddings PROVIDER/MODEL.');
    return null;
  }
  const [, provider, model] = /^(ollama|openai-compatible)\/(.+)$/.exec(embeddings) ?? [];
  if ((provider !== 'ollama' && provider !== 'openai-compatible') || model === undefined)
    throw new UsageError(`--embeddings is ollama/MODEL or openai-compatible/MODEL; "${embeddings}" is neither.`);
  if (url !== undefined && !/^https?:\/\//i.test(url)) throw new UsageError('--embeddings-url is an http or https address.');
  if (provider === 'openai-compatible' && url === undefined)
    throw new UsageError('--embeddings openai-compatible/… needs --embeddings-url, for example http://localhost:1234/v1.');
  return { provider, model, ...(url === undefined ? {} : { url }) };
}

/** Finding by meaning as the flags say; dispose of it, or the program goes on. `patienceMs` as in `EmbeddingsDeps`. Throws `UsageError`. */
export function embeddingsOf(flags: Flags, env: Environment, log: Logger, patienceMs?: number): Embeddings {
  const choice = embeddingChoice(flags);
  return new Embeddings({
    choice: () => choice,
    reach: (...way) => reach(env, ...way),
    clock: systemClock,
    log,
    ...(patienceMs === undefined ? {} : { patienceMs }),
  });
}

async function reach(env: Environment, provider: ProviderId, url = ''): Promise<ProviderAccess> {
  switch (provider) {
    case 'ollama':
      return { provider, baseURL: url, contextTokens: null };
    case 'openai-compatible':
      return { provider, apiKey: env[keyVariable]?.trim() ?? '', baseURL: url, api: 'chat-completions', contextTokens: null };
    default:
      throw new ModelError({ reason: 'invalid_request', detail: `${provider} has no embedding models.` });
  }
}
