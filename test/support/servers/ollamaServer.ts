import { ChatServer, WireError, type AcceptedChat, type ChatWire } from './chatServer';
import { madeVectors } from './madeVectors';
import { textTokens } from '../messagesApi/messagesApiTokens';

export interface OllamaServerOptions {
  /** What the model could read. */
  readonly modelContext?: number;
  /** What the server holds whatever `num_ctx` says. */
  readonly holds?: number;
  readonly tools?: boolean;
  readonly sees?: boolean;
  /** What it may be told about thinking, listed as newer servers do; `family`: it thinks, and only its family says how. */
  readonly thinks?: readonly (boolean | string)[] | { readonly family: string };
  /** Of the model that is in memory before the first request; null: none is. */
  readonly loaded?: number | null;
  /** Before 0.5: no schema. */
  readonly isOld?: boolean;
  /** Before `/api/ps` told it. */
  readonly hidesContext?: boolean;
}

export const ollamaModelId = 'double:8b';
export const ollamaEmbedder = 'embed:latest';

interface Chat extends AcceptedChat {
  readonly context: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Ollama: cuts a prompt that does not fit without a word. */
export function startOllamaServer(options: OllamaServerOptions = {}): Promise<ChatServer<Chat>> {
  return ChatServer.start(new OllamaWire(options));
}

class OllamaWire implements ChatWire<Chat> {
  readonly chatPath = '/api/chat';
  readonly contentType = 'application/x-ndjson';
  readonly half = '{"model":"double:8b","message":{"role":"assist';
  private loaded: number | null;

  constructor(private readonly options: OllamaServerOptions) {
    this.loaded = options.loaded ?? null;
  }

  accept(body: Fields): Chat {
    const { model, messages, tools, options } = body;
    this.checkModel(model);
    if (tools !== undefined && this.options.tools === false)
      throw new WireError(400, `registry.ollama.ai/library/${ollamaModelId} does not support tools`);
    if (this.options.isOld && typeof body['format'] === 'object')
      throw new WireError(400, 'json: cannot unmarshal object into Go struct field ChatRequest.format of type string');
    const { think } = body;
    if (think !== undefined && this.options.thinks === undefined) throw new WireError(400, `"${ollamaModelId}" does not support thinking`);
    const { num_ctx: asked, num_predict: maxTokens = Infinity } = (options ?? {}) as { num_ctx?: number; num_predict?: number };
    const context = this.options.holds ?? asked ?? 4_096;
    this.loaded = context;
    const texts = (messages as Fields[]).map(
      (message) => `${String(message['content'] ?? '')}${message['tool_calls'] ? JSON.stringify(message['tool_calls']) : ''}`,
    );
    let kept = texts.map((text) => textTokens(text) + 4);
    const head =
      (tools ? textTokens(JSON.stringify(tools)) : 0) + ((messages as Fields[])[0]?.['role'] === 'system' ? (kept.shift() ?? 0) : 0);
    // The oldest messages give way, the last one is cut itself.
    while (kept.length > 1 && head + sum(kept) > context) kept = kept.slice(1);
    const inputTokens = Math.min(context, head + sum(kept));
    return {
      model: String(model),
      inputTokens,
      maxTokens,
      last: texts.at(-1) ?? '',
      system: texts[0] ?? '',
      hasTools: tools !== undefined,
      context,
    };
  }

  text(_chat: Chat, content: string): string {
    return line({ message: { role: 'assistant', content }, done: false });
  }

  thinking(_chat: Chat, thinking: string): string {
    return line({ message: { role: 'assistant', content: '', thinking }, done: false });
  }

  call(_chat: Chat, { name, json }: Parameters<ChatWire<Chat>['call']>[1], whole: boolean): string {
    if (!whole) return '';
    try {
      return line({
        message: { role: 'assistant', content: '', tool_calls: [{ function: { name, arguments: JSON.parse(json) as unknown } }] },
        done: false,
      });
    } catch {
      return line({ error: `error parsing tool call: raw='${json}', err=unexpected end of JSON input` });
    }
  }

  end(chat: Chat, reason: string, outputTokens: number): string {
    return line({
      message: { role: 'assistant', content: '' },
      done: true,
      done_reason: reason === 'length' ? 'length' : 'stop',
      prompt_eval_count: chat.inputTokens,
      eval_count: outputTokens,
    });
  }

  error({ message }: WireError): string {
    return JSON.stringify({ error: message });
  }

  get(path: string, body: Fields): unknown {
    switch (path) {
      case '/api/tags':
        return {
          models: [
            { name: ollamaModelId, model: ollamaModelId },
            { name: ollamaEmbedder, model: ollamaEmbedder },
          ],
        };
      case '/api/show':
        if (body['model'] === ollamaEmbedder) return { capabilities: ['embedding'], model_info: { 'bert.context_length': 512 } };
        this.checkModel(body['model']);
        return {
          ...this.thinks(),
          capabilities: [
            'completion',
            ...(this.options.thinks === undefined ? [] : ['thinking']),
            ...(this.options.sees ? ['vision'] : []),
            ...(this.options.tools === false ? [] : ['tools']),
          ],
          model_info: { 'general.architecture': 'double', 'double.context_length': this.options.modelContext ?? 131_072 },
        };
      case '/api/embed':
        if (body['model'] !== ollamaEmbedder) throw new WireError(404, `model "${String(body['model'])}" not found, try pulling it first`);
        return { model: ollamaEmbedder, embeddings: madeVectors(body['input']) };
      case '/api/ps':
        return {
          models:
            this.loaded === null
              ? []
              : [{ name: ollamaModelId, model: ollamaModelId, ...(this.options.hidesContext ? {} : { context_length: this.loaded }) }],
        };
      default:
        return undefined;
    }
  }

  private thinks(): Fields {
    const { thinks } = this.options;
    if (thinks === undefined) return {};
    return 'family' in thinks ? { details: thinks } : { thinking: { values: thinks } };
  }

  private checkModel(model: unknown): void {
    if (model !== ollamaModelId) throw new WireError(404, `model '${String(model)}' not found`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function line(data: Fields): string {
  return `${JSON.stringify({ model: ollamaModelId, created_at: '2026-11-22T10:00:00Z', ...data })}\n`;
}
