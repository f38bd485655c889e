import { ChatServer, WireError, type AcceptedChat, type ChatWire } from './chatServer';
import { madeVectors } from './madeVectors';
import { textTokens } from '../messagesApi/messagesApiTokens';

export interface OpenaiServerOptions {
  /** Null: any, as servers on the own machine. */
  readonly apiKey?: string | null;
  readonly window?: number;
  /** Where the token counts come: once at the end with empty choices, with every event (cumulative), never, or as zeros. */
  readonly usage?: 'final' | 'every' | 'missing' | 'zero';
  /** Refuses `max_tokens`, as reasoning models. */
  readonly isReasoning?: boolean;
  /** Refuses `stream_options`, as older servers. */
  readonly isOld?: boolean;
  /** Refuses images. */
  readonly isBlind?: boolean;
  /** Fields of the list of models beside the id; null: there is no list. */
  readonly listed?: Readonly<Record<string, unknown>> | null;
  /** Efforts that it takes; null: it refuses to be told. Omitted: it does not care. */
  readonly efforts?: readonly string[] | null;
  /** Refuses to hold an answer to a schema. */
  readonly isFree?: boolean;
  /** Calls without an index. */
  readonly omitsIndex?: boolean;
  /** Calls that all have the index 0. */
  readonly repeatsIndex?: boolean;
  /** A reason for stopping with every piece, empty until there is one. */
  readonly hasEmptyReasons?: boolean;
  /** Refuses a limit under whatever name. */
  readonly isUnlimited?: boolean;
  /** Refuses, in these words, an answer of the model's that comes back without thinking. */
  readonly wantsThinking?: string;
  /** Refuses calls that come back without a signature, as Google does. */
  readonly wantsSignatures?: boolean;
  /** Numbers in a vector. */
  readonly dimensions?: number;
}

export const openaiModelId = 'double-chat';
export const openaiEmbedder = 'double-embedding';

interface Chat extends AcceptedChat {
  readonly usage: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** A server of the Chat Completions API. */
export function startOpenaiServer(options: OpenaiServerOptions = {}): Promise<ChatServer<Chat>> {
  return ChatServer.start(new OpenaiWire(options), options.apiKey === undefined ? 'sk-double-0123456789' : options.apiKey);
}

class OpenaiWire implements ChatWire<Chat> {
  readonly chatPath = '/v1/chat/completions';
  readonly contentType = 'text/event-stream';
  readonly half = 'data: {"id":"chatcmpl-double","choices":[{"index":0,"delta":{"conte';
  private output = 0;

  constructor(private readonly options: OpenaiServerOptions) {}

  accept(body: Fields): Chat {
    const { model, messages, tools, stream_options: streamOptions } = body;
    if (model !== openaiModelId)
      throw new WireError(404, `The model \`${String(model)}\` does not exist or you do not have access to it.`, 'model_not_found');
    if (this.options.isReasoning && body['max_tokens'] !== undefined) {
      throw new WireError(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'unsupported_parameter',
      );
    }
    const limit = ['max_tokens', 'max_completion_tokens'].find((name) => body[name] !== undefined);
    if (this.options.isUnlimited && limit !== undefined)
      throw new WireError(400, `Unsupported parameter: '${limit}' is not supported with this model.`, 'unsupported_parameter');
    if (this.options.isOld && streamOptions !== undefined)
      throw new WireError(400, 'Unrecognized request argument supplied: stream_options', null);
    if (this.options.isBlind && JSON.stringify(messages).includes('image_url'))
      throw new WireError(400, 'This model does not support image inputs.', null);
    if (this.options.isFree && body['response_format'] !== undefined)
      throw new WireError(400, 'This response_format type is unavailable now', 'invalid_request_error');
    const effort = body['reasoning_effort'];
    if (effort !== undefined && this.options.efforts === null)
      throw new WireError(400, "Unsupported parameter: 'reasoning_effort' is not supported with this model.", 'unsupported_parameter');
    if (effort !== undefined && this.options.efforts?.includes(String(effort)) === false) {
      throw new WireError(
        400,
        `Unsupported value: 'reasoning_effort' does not support '${String(effort)}' with this model. Supported values are: ${this.options.efforts.join(', ')}.`,
        'unsupported_value',
      );
    }
    if (!Array.isArray(messages) || messages.length === 0) throw new WireError(400, "'messages' must be a non-empty array.", null);
    checkTurns(messages as Fields[]);
    if (this.options.wantsSignatures) checkSignatures(messages as Fields[]);
    const { wantsThinking } = this.options;
    if (wantsThinking !== undefined && (messages as Fields[]).some((message) => message['role'] === 'assistant' && !thinks(message)))
      throw new WireError(400, wantsThinking, 'invalid_request_error');
    const texts = (messages as Fields[]).map(
      (message) => `${String(message['content'] ?? '')}${message['tool_calls'] ? JSON.stringify(message['tool_calls']) : ''}`,
    );
    const inputTokens = texts.reduce((sum, text) => sum + textTokens(text) + 4, 0) + (tools ? textTokens(JSON.stringify(tools)) : 0);
    const window = this.options.window ?? 100_000;
    if (inputTokens > window) {
      throw new WireError(
        400,
        `This model's maximum context length is ${window} tokens. However, your messages resulted in ${inputTokens} tokens. Please reduce the length of the messages.`,
        'context_length_exceeded',
      );
    }
    this.output = 0;
    const maxTokens = Number(body['max_completion_tokens'] ?? body['max_tokens'] ?? Infinity);
    return {
      model,
      inputTokens,
      maxTokens,
      last: texts.at(-1)!,
      system: texts[0]!,
      hasTools: tools !== undefined,
      usage: (streamOptions as Fields | undefined)?.['include_usage'] === true,
    };
  }

  text(chat: Chat, content: string): string {
    this.output += textTokens(content);
    return this.chunk(chat, { content });
  }

  thinking(chat: Chat, reasoning: string): string {
    return this.chunk(chat, { reasoning_content: reasoning });
  }

  call(chat: Chat, { index, id, name, json, first }: Parameters<ChatWire<Chat>['call']>[1], whole: boolean): string {
    if (whole) return '';
    const place = this.options.omitsIndex ? {} : { index: this.options.repeatsIndex ? 0 : index };
    return this.chunk(chat, {
      tool_calls: [{ ...place, ...(first ? { id, type: 'function' } : {}), function: { ...(first ? { name } : {}), arguments: json } }],
    });
  }

  end(chat: Chat, finish_reason: string, outputTokens: number): string {
    const usage = this.usage(chat, outputTokens);
    const last = usage && this.options.usage !== 'every' ? event({ choices: [], usage }) : '';
    return `${this.chunk(chat, {}, finish_reason)}${last}data: [DONE]\n\n`;
  }

  error({ message, code, status }: WireError): string {
    return JSON.stringify({ error: { message, type: status >= 500 ? 'server_error' : 'invalid_request_error', param: null, code } });
  }

  get(path: string, body: Fields): unknown {
    const { listed = {} } = this.options;
    if (path === '/v1/embeddings') {
      if (body['model'] !== openaiEmbedder)
        throw new WireError(
          404,
          `The model \`${String(body['model'])}\` does not exist or you do not have access to it.`,
          'model_not_found',
        );
      const data = madeVectors(body['input'], this.options.dimensions).map((embedding, index) => ({
        object: 'embedding',
        index,
        embedding,
      }));
      // In any order: the index says which is which.
      return { object: 'list', model: openaiEmbedder, data: data.reverse(), usage: { prompt_tokens: 1, total_tokens: 1 } };
    }
    if (path !== '/v1/models' || listed === null) return undefined;
    return { object: 'list', data: [{ id: openaiModelId, object: 'model', owned_by: 'double', ...listed }] };
  }

  private chunk(chat: Chat, delta: Fields, finish_reason: string | null = null): string {
    const usage = this.options.usage === 'every' ? { usage: this.usage(chat, this.output) } : {};
    return event({
      id: 'chatcmpl-double',
      object: 'chat.completion.chunk',
      model: chat.model,
      choices: [{ index: 0, delta, finish_reason: finish_reason ?? (this.options.hasEmptyReasons ? '' : null) }],
      ...usage,
    });
  }

  private usage(chat: Chat, output: number): Fields | null {
    const { usage = 'final' } = this.options;
    if (usage === 'missing' || (usage === 'final' && !chat.usage)) return null;
    if (usage === 'zero') return { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const cached = Math.floor(chat.inputTokens / 2);
    return {
      prompt_tokens: chat.inputTokens,
      completion_tokens: output,
      total_tokens: chat.inputTokens + output,
      prompt_tokens_details: { cached_tokens: cached },
    };
  }
}

/** In the words, and in the list, that Google puts it. */
function checkSignatures(messages: readonly Fields[]): void {
  const calls = messages.flatMap((message) => (message['tool_calls'] ?? []) as Fields[]);
  const bare = calls.find(
    (call) => !(call['extra_content'] as { google?: { thought_signature?: string } } | undefined)?.google?.thought_signature,
  );
  if (!bare) return;
  const { name } = bare['function'] as { name: string };
  const message = [
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing',
    'thought_signature may lead to degraded model performance. Additional data, function call',
    `\`default_api:${name}\` , position 2. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
  ].join(' ');
  throw new WireError(400, message, null, {}, JSON.stringify([{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }]));
}

/** As strict as the strictest: nothing but a text that is not empty is thinking, and what has some has a text, if an empty one. */
function thinks({ content, reasoning_content: thinking }: Fields): boolean {
  return typeof thinking === 'string' && thinking !== '' && typeof content === 'string';
}

/** As strict as the original: every call is answered directly behind it, and nothing else is. */
function checkTurns(messages: readonly Fields[]): void {
  let open = new Set<unknown>();
  for (const [index, { role, content, tool_calls: calls, tool_call_id: answers }] of messages.entries()) {
    if (role === 'tool') {
      if (!open.delete(answers))
        throw new WireError(
          400,
          `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages.${index})`,
          null,
        );
      continue;
    }
    if (open.size > 0)
      throw new WireError(
        400,
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (messages.${index})`,
        null,
      );
    if (calls === undefined && !Array.isArray(content) && (typeof content !== 'string' || content === ''))
      throw new WireError(400, `Invalid value for 'content': expected a string, got null. (messages.${index})`, null);
    for (const call of (calls ?? []) as Fields[]) {
      const { arguments: input } = call['function'] as Fields;
      if (typeof input !== 'string')
        throw new WireError(400, `Invalid type for 'messages[${index}].tool_calls[0].function.arguments'.`, null);
    }
    open = new Set(((calls ?? []) as Fields[]).map(({ id }) => id));
  }
  if (open.size > 0) throw new WireError(400, "An assistant message with 'tool_calls' must be followed by tool messages.", null);
}

function event(data: Fields): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
