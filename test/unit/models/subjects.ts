import type { ModelBinding } from '../../../src/core/context/engine';
import type { Logger, ModelClient } from '../../../src/core/ports';
import { AnthropicClient } from '../../../src/node/models/anthropic/anthropicClient';
import { OllamaClient } from '../../../src/node/models/ollama/ollamaClient';
import { OpenaiCompatibleClient } from '../../../src/node/models/openai/openaiCompatibleClient';
import type { AcceptedChat, ChatServer } from '../../support/servers/chatServer';
import { LmModels } from '../../../src/vscode/models/lmModels';
import { LmDouble } from '../../support/vscode/lmDouble';
import { MessagesApi } from '../../support/messagesApi/messagesApi';
import type { Script } from '../../support/messagesApi/messagesApiScript';
import { ollamaModelId, startOllamaServer } from '../../support/servers/ollamaServer';
import { openaiModelId, startOpenaiServer } from '../../support/servers/openaiServer';
import { responsesModelId, startResponsesServer } from '../../support/servers/responsesServer';

/** A provider's client and the double that it talks to. */
export interface Wired {
  bind(): Promise<ModelBinding>;
  enqueue(...scripts: readonly Script[]): void;
  /** The newest request, as text. */
  sent(): string;
  /** Resolves when the server sees that nobody listens any more. */
  released(): Promise<unknown>;
  readonly errors: readonly unknown[];
  readonly logged: readonly unknown[];
  readonly secret: string;
  close(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  readonly overHttp: boolean;
  readonly reportsUsage: boolean;
  /** There is a way to say on the wire that the model declined. */
  readonly declines: boolean;
  readonly limitsAnswers: boolean;
  /** A system message may stand among the others. */
  readonly takesSystem: boolean;
  /** `window`: what the server takes, without the client knowing. `apiKey`: what it lets in, where it wants a key. */
  start(window?: number, apiKey?: string): Promise<Wired>;
}

const usual = { overHttp: true, reportsUsage: true, declines: true, limitsAnswers: true, takesSystem: false };

export const anthropicSubject: Subject = {
  ...usual,
  name: 'Anthropic',
  async start(window, apiKey) {
    const log = new Recorder();
    const api = await MessagesApi.start(apiKey ? { apiKey } : {});
    const model = 'claude-tiny-8k';
    if (window) api.setModel(model, { window });
    const client = new AnthropicClient({ apiKey: api.apiKey, baseURL: api.url, logger: log.logger });
    return {
      // As the table would have it, where the provider cannot be asked.
      bind: () => binding(client, model, window ? 8_000 : undefined),
      enqueue: (...scripts) => api.enqueue(...scripts),
      sent: () => JSON.stringify(api.messages.at(-1)?.body),
      released: async () => api.messages.at(-1)!.closed,
      errors: api.errors,
      logged: log.lines,
      secret: api.apiKey,
      close: () => api.close(),
    };
  },
};

export const openaiSubject: Subject = {
  ...usual,
  name: 'an OpenAI-compatible server',
  takesSystem: true,
  async start(window, apiKey) {
    const log = new Recorder();
    const server = await startOpenaiServer({
      ...(apiKey ? { apiKey } : {}),
      ...(window ? { window } : {}),
      listed: { context_length: 8_000 },
    });
    const client = new OpenaiCompatibleClient({
      apiKey: server.apiKey!,
      baseURL: server.url,
      api: 'chat-completions',
      contextTokens: null,
      logger: log.logger,
    });
    return wiredServer(server, client, openaiModelId, log);
  },
};

export const responsesSubject: Subject = {
  ...usual,
  name: 'the Responses API',
  takesSystem: true,
  async start(window, apiKey) {
    const log = new Recorder();
    const server = await startResponsesServer({
      ...(apiKey ? { apiKey } : {}),
      ...(window ? { window } : {}),
      listed: { context_length: 8_000 },
    });
    const client = new OpenaiCompatibleClient({
      apiKey: server.apiKey!,
      baseURL: server.url,
      api: 'responses',
      contextTokens: null,
      logger: log.logger,
    });
    return wiredServer(server, client, responsesModelId, log);
  },
};

export const ollamaSubject: Subject = {
  ...usual,
  name: 'Ollama',
  declines: false,
  async start(window) {
    const log = new Recorder();
    const server = await startOllamaServer({ ...(window ? { holds: window, hidesContext: true } : {}) });
    const client = new OllamaClient({ baseURL: server.url, contextTokens: 8_000, logger: log.logger });
    return wiredServer(server, client, ollamaModelId, log);
  },
};

/** Over a double of the API; a real VS Code has its own test. */
export const lmSubject: Subject = {
  ...usual,
  name: 'a language model of VS Code',
  overHttp: false,
  reportsUsage: false,
  limitsAnswers: false,
  async start(window) {
    const log = new Recorder();
    const double = new LmDouble(8_000, window);
    const client = new LmModels({ api: double.api, canSend: () => true, log: log.logger });
    return {
      bind: () => binding(client, 'acme/double'),
      enqueue: (...scripts) => double.enqueue(...scripts),
      sent: () => JSON.stringify(double.requests.at(-1)?.messages),
      released: () => double.requests.at(-1)!.released,
      errors: [],
      logged: log.lines,
      secret: 'sk-none-0123456789',
      close: async () => undefined,
    };
  },
};

/** What a client has logged. */
export class Recorder {
  readonly lines: unknown[] = [];
  readonly logger: Logger = {
    debug: (event, data) => void this.lines.push({ event, data }),
    info: (event, data) => void this.lines.push({ event, data }),
    warn: (event, data) => void this.lines.push({ event, data }),
    error: (event, data) => void this.lines.push({ event, data }),
  };
}

async function binding(client: ModelClient, model: string, window?: number): Promise<ModelBinding> {
  const info = await client.describe(model);
  return { client, info: { ...info, window: window ?? info.window }, summarizer: null };
}

function wiredServer<C extends AcceptedChat>(server: ChatServer<C>, client: ModelClient, model: string, log: Recorder): Wired {
  return {
    bind: () => binding(client, model),
    enqueue: (...scripts) => server.enqueue(...scripts),
    sent: () => JSON.stringify(server.chats.at(-1)?.body),
    released: async () => server.chats.at(-1)!.closed,
    errors: server.errors,
    logged: log.lines,
    secret: server.apiKey ?? 'sk-none-0123456789',
    close: () => server.close(),
  };
}
