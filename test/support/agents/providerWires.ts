/** What a program asks of its model, in whichever wire format. */
export interface AskedModel {
  readonly path: string;
  readonly body: Fields;
  /** Names of the tools that are offered. */
  readonly tools: readonly string[];
  /** The last thing said: texts of the user, or results of the calls before. */
  readonly last: { readonly by: 'user' | 'tool'; readonly text: string };
}

/** What it is answered: words, or a call. */
export type ModelAnswer = { readonly text: string } | { readonly call: { readonly name: string; readonly input: object } };

export type Fields = Readonly<Record<string, unknown>>;

export interface Wire {
  readonly path: RegExp;
  asked(path: string, body: Fields): AskedModel;
  /** The whole body of the answer. */
  answered(answer: ModelAnswer, asked: AskedModel, number: number): { readonly type: string; readonly body: string };
}

const sse = 'text/event-stream';
const json = 'application/json';

/** Lenient doubles of the four wire formats that coding agents speak: whatever a version of a program sends besides is taken. */
export const wires: readonly Wire[] = [
  {
    path: /\/v1\/messages$/,
    asked(path, body) {
      const content = blocks(lastOf(body['messages'])?.['content']);
      const results = content.filter(({ type }) => type === 'tool_result');
      const last =
        results.length > 0
          ? ({ by: 'tool', text: results.map((one) => textOf(one['content'])).join('\n') } as const)
          : ({ by: 'user', text: textOf(content) } as const);
      return { path, body, tools: list(body['tools']).map(nameOf), last };
    },
    answered(answer, { body }, number) {
      const block =
        'text' in answer
          ? { type: 'text', text: answer.text }
          : { type: 'tool_use', id: `toolu_double_${number}`, name: answer.call.name, input: answer.call.input };
      const stop = 'text' in answer ? 'end_turn' : 'tool_use';
      const usage = { input_tokens: 1_000, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
      const message = { id: `msg_double_${number}`, type: 'message', role: 'assistant', model: body['model'] };
      if (body['stream'] !== true)
        return { type: json, body: JSON.stringify({ ...message, content: [block], stop_reason: stop, stop_sequence: null, usage }) };
      const start = block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} };
      const delta =
        'text' in answer
          ? { type: 'text_delta', text: answer.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(answer.call.input) };
      return {
        type: sse,
        body: [
          { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage } },
          { type: 'content_block_start', index: 0, content_block: start },
          { type: 'content_block_delta', index: 0, delta },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 20 } },
          { type: 'message_stop' },
        ]
          .map(named)
          .join(''),
      };
    },
  },
  {
    path: /\/responses$/,
    asked(path, body) {
      const items = list(body['input']);
      const isResult = ({ type }: Fields) => /_output$/.test(String(type));
      const results = items.slice(items.findLastIndex((item) => !isResult(item)) + 1);
      const last =
        results.length > 0
          ? ({ by: 'tool', text: results.map(({ output }) => textOf(output)).join('\n') } as const)
          : ({ by: 'user', text: textOf(items.at(-1)?.['content'] ?? body['input']) } as const);
      const tools = list(body['tools']).flatMap((tool) =>
        tool['type'] === 'namespace' ? list(tool['tools']).map((one) => `${nameOf(tool)}/${nameOf(one)}`) : [nameOf(tool)],
      );
      return { path, body, tools, last };
    },
    answered(answer, { body }, number) {
      const call = 'call' in answer ? /^(?:(.*)\/)?(.*)$/.exec(answer.call.name) : null;
      const item =
        'text' in answer
          ? {
              type: 'message',
              id: `msg_double_${number}`,
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text: answer.text, annotations: [] }],
            }
          : {
              type: 'function_call',
              id: `fc_double_${number}`,
              status: 'completed',
              call_id: `call_double_${number}`,
              ...(call?.[1] === undefined ? {} : { namespace: call[1] }),
              name: call?.[2],
              arguments: JSON.stringify(answer.call.input),
            };
      const usage = { input_tokens: 1_000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 20, total_tokens: 1_020 };
      const response = { id: `resp_double_${number}`, object: 'response', created_at: 1, model: body['model'], error: null };
      const whole = {
        ...response,
        status: 'completed',
        output: [item],
        usage: { ...usage, output_tokens_details: { reasoning_tokens: 0 } },
      };
      if (body['stream'] !== true) return { type: json, body: JSON.stringify(whole) };
      const text =
        'text' in answer
          ? [{ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0, delta: answer.text }]
          : [];
      const begun = 'text' in answer ? { ...item, status: 'in_progress', content: [] } : { ...item, status: 'in_progress', arguments: '' };
      return {
        type: sse,
        body: [
          { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
          { type: 'response.output_item.added', output_index: 0, item: begun },
          ...text,
          { type: 'response.output_item.done', output_index: 0, item },
          { type: 'response.completed', response: whole },
        ]
          .map((event, index) => named({ ...event, sequence_number: index }))
          .join(''),
      };
    },
  },
  {
    path: /\/chat\/completions$/,
    asked(path, body) {
      const messages = list(body['messages']);
      const results = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
      const last =
        results.length > 0
          ? ({ by: 'tool', text: results.map(({ content }) => textOf(content)).join('\n') } as const)
          : ({ by: 'user', text: textOf(messages.at(-1)?.['content']) } as const);
      return { path, body, tools: list(body['tools']).map((tool) => nameOf((tool['function'] ?? {}) as Fields)), last };
    },
    answered(answer, { body }, number) {
      const calls =
        'text' in answer
          ? []
          : [
              {
                index: 0,
                id: `call_double_${number}`,
                type: 'function',
                function: { name: answer.call.name, arguments: JSON.stringify(answer.call.input) },
              },
            ];
      const said = {
        role: 'assistant',
        content: 'text' in answer ? answer.text : null,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      };
      const reason = calls.length > 0 ? 'tool_calls' : 'stop';
      const usage = { prompt_tokens: 1_000, completion_tokens: 20, total_tokens: 1_020 };
      const head = { id: `chatcmpl-double-${number}`, created: 1, model: body['model'] };
      if (body['stream'] !== true) {
        const choices = [{ index: 0, message: said, finish_reason: reason }];
        return { type: json, body: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) };
      }
      const chunk = (choices: readonly object[], more: object = {}) =>
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
      const ended = chunk([{ index: 0, delta: {}, finish_reason: reason }]);
      return {
        type: sse,
        body: `${chunk([{ index: 0, delta: said, finish_reason: null }])}${ended}${chunk([], { usage })}data: [DONE]\n\n`,
      };
    },
  },
  {
    path: /:(?:stream)?[gG]enerateContent$/,
    asked(path, body) {
      const parts = list(lastOf(body['contents'])?.['parts']);
      const results = parts.filter((part) => part['functionResponse'] !== undefined);
      const last =
        results.length > 0
          ? ({ by: 'tool', text: results.map((part) => textOf((part['functionResponse'] as Fields)['response'])).join('\n') } as const)
          : ({ by: 'user', text: textOf(parts) } as const);
      return { path, body, tools: list(body['tools']).flatMap((tool) => list(tool['functionDeclarations']).map(nameOf)), last };
    },
    answered(answer, { path }) {
      const part = 'text' in answer ? { text: answer.text } : { functionCall: { name: answer.call.name, args: answer.call.input } };
      const body = JSON.stringify({
        candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 20, totalTokenCount: 1_020 },
        modelVersion: 'double',
      });
      return /:stream/.test(path) ? { type: sse, body: `data: ${body}\n\n` } : { type: json, body };
    },
  },
];

function named(event: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

function lastOf(value: unknown): Fields | undefined {
  return list(value).at(-1);
}

function blocks(content: unknown): readonly Fields[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
}

function nameOf(tool: Fields): string {
  return String(tool['name'] ?? tool['type']);
}

/** Every text below a value, one line each. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('\n');
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .filter(([key]) => key !== 'type')
    .map(([, one]) => textOf(one))
    .join('\n');
}
