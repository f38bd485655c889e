import { ChatServer, WireError, type AcceptedChat, type ChatWire } from './chatServer';
import { textTokens } from '../messagesApi/messagesApiTokens';

export interface ResponsesServerOptions {
  /** Null: any, as servers on the own machine. */
  readonly apiKey?: string | null;
  readonly window?: number;
  /** Fields of the list of models beside the id; null: there is no list. */
  readonly listed?: Readonly<Record<string, unknown>> | null;
  /** Efforts that it takes; null: it refuses to be told. Omitted: it does not care. */
  readonly efforts?: readonly string[] | null;
  /** Does not reason, and refuses to be asked for what it would have sealed. */
  readonly isPlain?: boolean;
  /** Shows nobody a summary of its reasoning. */
  readonly isUnverified?: boolean;
  readonly isBlind?: boolean;
  readonly isFree?: boolean;
  /** Says nothing of an item before it is finished. */
  readonly isTerse?: boolean;
  /** Knows these fields of a request alone. */
  readonly knows?: readonly string[];
}

export const responsesModelId = 'double-reasoner';

type Fields = Readonly<Record<string, unknown>>;

interface OpenItem {
  readonly index: number;
  readonly kind: 'message' | 'reasoning' | 'function_call';
  readonly key: number;
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  text: string;
}

interface Chat extends AcceptedChat {
  readonly seals: boolean;
  open: OpenItem | null;
  readonly output: Fields[];
  events: number;
}

/** A server of OpenAI's Responses API, without a store. */
export function startResponsesServer(options: ResponsesServerOptions = {}): Promise<ChatServer<Chat>> {
  return ChatServer.start(new ResponsesWire(options), options.apiKey === undefined ? 'sk-double-0123456789' : options.apiKey);
}

const known = ['model', 'instructions', 'input', 'stream', 'store', 'max_output_tokens', 'include', 'reasoning', 'text', 'tools'];

class ResponsesWire implements ChatWire<Chat> {
  readonly chatPath = '/v1/responses';
  readonly contentType = 'text/event-stream';
  readonly half = 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"conte';
  /** What it has sealed itself, which nobody else can have. */
  private readonly sealed = new Set<string>();

  constructor(private readonly options: ResponsesServerOptions) {}

  accept(body: Fields): Chat {
    const { model, input, tools, instructions = '', include, reasoning, text } = body;
    const unknown = Object.keys(body).find((field) => !(this.options.knows ?? known).includes(field));
    if (unknown) throw new WireError(400, `Unknown parameter: '${unknown}'.`, 'unknown_parameter');
    if (model !== responsesModelId)
      throw new WireError(404, `The model '${String(model)}' does not exist or you do not have access to it.`, 'model_not_found');
    if (body['store'] !== false) throw new Error('Nothing may be kept at the provider.');
    const max = body['max_output_tokens'];
    if (max !== undefined && Number(max) < 16)
      throw new WireError(
        400,
        "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
        'integer_below_min_value',
      );
    if (include !== undefined && this.options.isPlain)
      throw new WireError(400, 'Encrypted content is not supported with this model.', null);
    this.checkReasoning((reasoning ?? {}) as Fields);
    if (text !== undefined && this.options.isFree)
      throw new WireError(400, "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.", null);
    if (this.options.isBlind && JSON.stringify(input).includes('input_image'))
      throw new WireError(400, 'This model does not support image inputs.', null);
    for (const tool of (tools ?? []) as Fields[])
      if (tool['type'] !== 'function' || typeof tool['name'] !== 'string' || tool['strict'] !== false)
        throw new WireError(
          400,
          "Invalid schema for function: 'required' is required to be supplied and to be an array including every key in properties.",
          'invalid_function_parameters',
        );
    if (!Array.isArray(input) || input.length === 0)
      throw new WireError(400, "Missing required parameter: 'input'.", 'missing_required_parameter');
    this.checkItems(input as Fields[]);
    const texts = (input as Fields[]).map((item) => JSON.stringify(item['content'] ?? item['output'] ?? item['arguments'] ?? ''));
    const inputTokens =
      [String(instructions), ...texts].reduce((sum, one) => sum + textTokens(one) + 4, 0) + (tools ? textTokens(JSON.stringify(tools)) : 0);
    const window = this.options.window ?? 100_000;
    if (inputTokens > window)
      throw new WireError(
        400,
        'Your input exceeds the context window of this model. Please adjust your input and try again.',
        'context_length_exceeded',
      );
    return {
      model,
      inputTokens,
      maxTokens: Number(max ?? Infinity),
      last: lastText(input as Fields[]),
      system: String(instructions),
      hasTools: tools !== undefined,
      seals: Array.isArray(include) && include.includes('reasoning.encrypted_content'),
      open: null,
      output: [],
      events: 0,
    };
  }

  text(chat: Chat, delta: string): string {
    return this.delta(chat, 'message', -1, delta);
  }

  thinking(chat: Chat, delta: string): string {
    return this.delta(chat, 'reasoning', -2, delta);
  }

  call(chat: Chat, { index, id, name, json, first }: Parameters<ChatWire<Chat>['call']>[1], whole: boolean): string {
    return whole ? '' : this.delta(chat, 'function_call', index, json, first ? { id, name } : undefined);
  }

  end(chat: Chat, reason: string, outputTokens: number): string {
    const closed = `${this.started(chat)}${reason === 'content_filter' ? this.refused(chat) : ''}${this.close(chat)}`;
    const cached = Math.floor(chat.inputTokens / 2);
    const usage = {
      input_tokens: chat.inputTokens,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: chat.inputTokens + outputTokens,
    };
    const isCut = reason === 'length';
    const response = this.response(chat, isCut ? 'incomplete' : 'completed', {
      output: chat.output,
      usage,
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    });
    return `${closed}${this.event(chat, isCut ? 'response.incomplete' : 'response.completed', { response })}`;
  }

  error({ message, code, status }: WireError): string {
    return JSON.stringify({ error: { message, type: status >= 500 ? 'server_error' : 'invalid_request_error', param: null, code } });
  }

  broken({ message, code }: WireError): string {
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code: code === 'api_error' ? 'server_error' : code, message, param: null, sequence_number: 99 })}\n\n`;
  }

  get(path: string): unknown {
    const { listed = {} } = this.options;
    if (path !== '/v1/models' || listed === null) return undefined;
    return { object: 'list', data: [{ id: responsesModelId, object: 'model', owned_by: 'double', ...listed }] };
  }

  private checkReasoning({ effort, summary }: Fields): void {
    const { efforts, isPlain, isUnverified } = this.options;
    if (effort !== undefined && (isPlain || efforts === null))
      throw new WireError(400, "Unsupported parameter: 'reasoning.effort' is not supported with this model.", 'unsupported_parameter');
    if (effort !== undefined && efforts?.includes(String(effort)) === false) {
      throw new WireError(
        400,
        `Unsupported value: '${String(effort)}' is not supported with the '${responsesModelId}' model. Supported values for 'reasoning.effort' are: ${efforts.join(', ')}.`,
        'unsupported_value',
      );
    }
    if (summary !== undefined && isPlain)
      throw new WireError(400, "Unsupported parameter: 'reasoning.summary' is not supported with this model.", 'unsupported_parameter');
    if (summary !== undefined && isUnverified)
      throw new WireError(
        400,
        "Your organization must be verified to generate reasoning summaries: 'reasoning.summary'.",
        'unsupported_value',
      );
  }

  /** As strict as the original: calls and results belong together, reasoning to what follows it, and sealed text is its own. */
  private checkItems(items: readonly Fields[]): void {
    const open = new Set<unknown>();
    for (const [index, item] of items.entries()) {
      const at = `input[${index}]`;
      if (item['id'] !== undefined)
        throw new WireError(
          404,
          `Item with id '${String(item['id'])}' not found. Items are not persisted when \`store\` is set to false.`,
          null,
        );
      if (item['type'] !== 'function_call_output' && item['type'] !== 'function_call' && item['type'] !== 'reasoning' && open.size > 0)
        throw new WireError(400, `No tool output found for function call ${[...open].join()}.`, null);
      switch (item['type']) {
        case 'message':
          this.checkMessage(item, at);
          break;
        case 'reasoning':
          if (!this.sealed.has(String(item['encrypted_content'])))
            throw new WireError(400, 'The encrypted content could not be verified.', 'invalid_encrypted_content');
          if (
            !['message', 'function_call', 'reasoning'].includes(String(items[index + 1]?.['type'])) ||
            items[index + 1]?.['role'] === 'user'
          )
            throw new WireError(400, `Item of type 'reasoning' was provided without its required following item. (${at})`, null);
          break;
        case 'function_call':
          if (typeof item['arguments'] !== 'string' || !/^[\w-]{1,64}$/.test(String(item['name'])))
            throw new WireError(400, `Invalid '${at}.name': string does not match pattern.`, 'invalid_value');
          if (String(item['call_id']).length > 64)
            throw new WireError(400, `Invalid '${at}.call_id': string too long.`, 'string_above_max_length');
          open.add(item['call_id']);
          break;
        case 'function_call_output':
          if (!open.delete(item['call_id']))
            throw new WireError(400, `No tool call found for function call output with call_id ${String(item['call_id'])}.`, null);
          break;
        default:
          throw new WireError(400, `Invalid value: '${String(item['type'])}'. (${at}.type)`, 'invalid_value');
      }
    }
    if (open.size > 0) throw new WireError(400, `No tool output found for function call ${[...open].join()}.`, null);
  }

  private checkMessage({ role, content }: Fields, at: string): void {
    const allowed =
      role === 'assistant'
        ? ['output_text', 'refusal']
        : role === 'user' || role === 'system' || role === 'developer'
          ? ['input_text', 'input_image']
          : [];
    for (const part of content as Fields[]) {
      if (!allowed.includes(String(part['type'])))
        throw new WireError(
          400,
          `Invalid value: '${String(part['type'])}'. Supported values are: ${allowed.join()}. (${at}.content)`,
          'invalid_value',
        );
      if (part['text'] === '') throw new WireError(400, `Invalid '${at}.content': empty string.`, null);
    }
  }

  private delta(
    chat: Chat,
    kind: OpenItem['kind'],
    key: number,
    text: string,
    call?: { readonly id: string; readonly name: string },
  ): string {
    const begun = this.started(chat);
    const isNew = chat.open?.kind !== kind || chat.open.key !== key || call !== undefined;
    const before = isNew ? `${this.close(chat)}${this.begin(chat, kind, key, call)}` : '';
    const open = chat.open!;
    open.text += text;
    if (this.options.isTerse || (kind === 'reasoning' && this.options.isUnverified)) return `${begun}${before}`;
    const place = { item_id: open.id, output_index: open.index };
    const name =
      kind === 'message'
        ? 'response.output_text.delta'
        : kind === 'reasoning'
          ? 'response.reasoning_summary_text.delta'
          : 'response.function_call_arguments.delta';
    const inside = kind === 'message' ? { content_index: 0, logprobs: [] } : kind === 'reasoning' ? { summary_index: 0 } : {};
    return `${begun}${before}${this.event(chat, name, { ...place, ...inside, delta: text })}`;
  }

  private begin(chat: Chat, kind: OpenItem['kind'], key: number, call?: { readonly id: string; readonly name: string }): string {
    const index = chat.output.length;
    const prefix = { message: 'msg', reasoning: 'rs', function_call: 'fc' }[kind];
    chat.open = { index, kind, key, id: `${prefix}_double_${index}`, callId: call?.id ?? '', name: call?.name ?? '', text: '' };
    if (this.options.isTerse) return '';
    const place = { item_id: chat.open.id, output_index: index };
    const added = this.event(chat, 'response.output_item.added', { output_index: index, item: itemOf(chat.open, '', 'in_progress') });
    if (kind === 'message')
      return `${added}${this.event(chat, 'response.content_part.added', { ...place, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } })}`;
    if (kind === 'reasoning' && !this.options.isUnverified)
      return `${added}${this.event(chat, 'response.reasoning_summary_part.added', { ...place, summary_index: 0, part: { type: 'summary_text', text: '' } })}`;
    return added;
  }

  private close(chat: Chat): string {
    const { open } = chat;
    if (!open) return '';
    chat.open = null;
    const hides = open.kind === 'reasoning' && this.options.isUnverified;
    const item = itemOf(open, hides ? '' : open.text, 'completed');
    const seal = `sealed-${open.id}-${this.sealed.size}`;
    const done = open.kind === 'reasoning' && chat.seals ? { ...item, encrypted_content: seal } : item;
    if (open.kind === 'reasoning' && chat.seals) this.sealed.add(seal);
    chat.output.push(done);
    return this.event(chat, 'response.output_item.done', { output_index: open.index, item: done });
  }

  private refused(chat: Chat): string {
    const closed = this.close(chat);
    const index = chat.output.length;
    const refusal = 'I cannot help with that.';
    const item = {
      type: 'message',
      id: `msg_double_${index}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'refusal', refusal }],
    };
    chat.output.push(item);
    const place = { item_id: item.id, output_index: index, content_index: 0 };
    return `${closed}${this.event(chat, 'response.output_item.added', { output_index: index, item: { ...item, content: [] } })}${this.event(chat, 'response.refusal.delta', { ...place, delta: refusal })}${this.event(chat, 'response.output_item.done', { output_index: index, item })}`;
  }

  private started(chat: Chat): string {
    if (chat.events > 0) return '';
    const response = this.response(chat, 'in_progress', { output: [], usage: null });
    return `${this.event(chat, 'response.created', { response })}${this.event(chat, 'response.in_progress', { response })}`;
  }

  private response(chat: Chat, status: string, fields: Fields): Fields {
    return {
      id: 'resp_double',
      object: 'response',
      created_at: 1,
      status,
      error: null,
      incomplete_details: null,
      model: chat.model,
      store: false,
      ...fields,
    };
  }

  private event(chat: Chat, type: string, fields: Fields): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: chat.events++, ...fields })}\n\n`;
  }
}

function itemOf({ kind, id, callId, name }: OpenItem, text: string, status: string): Fields {
  switch (kind) {
    case 'message':
      return {
        type: 'message',
        id,
        role: 'assistant',
        status,
        content: text === '' ? [] : [{ type: 'output_text', text, annotations: [] }],
      };
    case 'reasoning':
      return { type: 'reasoning', id, summary: text === '' ? [] : [{ type: 'summary_text', text }] };
    case 'function_call':
      return { type: 'function_call', id, status, call_id: callId, name, arguments: text };
  }
}

/** Of the last thing said to it, without its framing. */
function lastText(items: readonly Fields[]): string {
  const { content, output } = items.at(-1) ?? {};
  return Array.isArray(content) ? (content as Fields[]).map(({ text }) => String(text ?? '')).join('\n') : String(output ?? '');
}
