import type { Logger } from '../../../src/core/ports';
import type { ModelBlock, ModelMessage, ModelRequest } from '../../../src/core/models/modelRequest';
import type { ModelEvent, ModelFailure } from '../../../src/core/models/modelEvent';
import { AnthropicClient, type AnthropicClientOptions } from '../../../src/node/models/anthropic/anthropicClient';
import { MessagesApi, type MessagesApiOptions } from '../../support/messagesApi/messagesApi';

export const model = 'claude-sonnet-4-5';

/** A double and clients that talk to it; call `close` after each test. */
export class Rig {
  readonly logged: { readonly event: string; readonly data: unknown }[] = [];
  private started: MessagesApi | undefined;

  get api(): MessagesApi {
    if (!this.started) throw new Error('The double has not been started.');
    return this.started;
  }

  async start(options?: MessagesApiOptions): Promise<MessagesApi> {
    this.started = await MessagesApi.start(options);
    return this.started;
  }

  client(options: Partial<AnthropicClientOptions> = {}): AnthropicClient {
    return new AnthropicClient({ apiKey: this.api.apiKey, baseURL: this.api.url, logger: this.logger, ...options });
  }

  async close(): Promise<void> {
    await this.started?.close();
    this.started = undefined;
    this.logged.length = 0;
  }

  readonly logger: Logger = {
    debug: (event, data) => void this.logged.push({ event, data }),
    info: (event, data) => void this.logged.push({ event, data }),
    warn: (event, data) => void this.logged.push({ event, data }),
    error: (event, data) => void this.logged.push({ event, data }),
  };
}

export function user(...content: readonly (string | ModelBlock)[]): ModelMessage {
  return { role: 'user', blocks: content.map(textBlock) };
}

export function assistant(...content: readonly (string | ModelBlock)[]): ModelMessage {
  return { role: 'assistant', blocks: content.map(textBlock) };
}

function textBlock(content: string | ModelBlock): ModelBlock {
  return typeof content === 'string' ? { type: 'text', text: content } : content;
}

export function request(change: Partial<ModelRequest> = {}): ModelRequest {
  return { model, system: '', tools: [], messages: [user('Hello')], maxOutputTokens: 1_000, ...change };
}

export const never = new AbortController().signal;

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export function blocksOf(events: readonly ModelEvent[]): ModelBlock[] {
  return events.flatMap((event) => (event.type === 'block' ? [event.block] : []));
}

/** The failure that ends the stream; throws when it ended otherwise, or with more than one last event. */
export function failureOf(events: readonly ModelEvent[]): ModelFailure {
  const last = events.at(-1);
  const endings = events.filter(({ type }) => type === 'failed' || type === 'stopped');
  if (last?.type !== 'failed' || endings.length !== 1) throw new Error(`Expected one failure at the end of ${JSON.stringify(events)}`);
  return last.failure;
}

/** What the double was sent, without guessing at its shape. */
export interface SentBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly system?: readonly Record<string, unknown>[];
  readonly tools?: readonly Record<string, unknown>[];
  readonly thinking?: unknown;
  readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[];
}

export function sent(api: MessagesApi, index = -1): SentBody {
  return api.requests.at(index)?.body as SentBody;
}
