import { cacheTimeOf } from './messagesApiCache';
import { findModel } from './messagesApiModels';
import {
  ApiError,
  badRequest,
  isRecord,
  type CacheTime,
  type DoubleModel,
  type Prompt,
  type Turn,
  type WireBlock,
  type WireTool,
} from './messagesApiWire';

const fields = [
  'cache_control',
  'max_tokens',
  'messages',
  'metadata',
  'model',
  'output_config',
  'service_tier',
  'stop_sequences',
  'stream',
  'system',
  'thinking',
  'tool_choice',
  'tools',
];
const countFields = new Set(['cache_control', 'messages', 'model', 'output_config', 'system', 'thinking', 'tool_choice', 'tools']);

/** The beta that a compaction has to be asked for with. */
const compactionBeta = 'compact-2026-09-04';

/** Refuses what the provider refuses, in its words. `counting`: the rules of `/v1/messages/count_tokens`. `betas`: of the header. */
export function validated(raw: string, models: readonly DoubleModel[], counting: boolean, betas = ''): Prompt {
  const body = parsed(raw);
  const known = (field: string) =>
    (counting ? countFields.has(field) : fields.includes(field)) || (field === 'compaction' && betas.split(',').includes(compactionBeta));
  for (const field of Object.keys(body)) {
    if (!known(field)) throw badRequest(`${field}: Extra inputs are not permitted`);
  }
  const { model: id, max_tokens: maxTokens, stream = false, system, tools, messages } = body;
  if (typeof id !== 'string') throw badRequest('model: Field required');
  if (!counting && maxTokens === undefined) throw badRequest('max_tokens: Field required');
  if (!counting && (!Number.isInteger(maxTokens) || Number(maxTokens) < 1))
    throw badRequest('max_tokens: Input should be greater than or equal to 1');
  if (typeof stream !== 'boolean') throw badRequest('stream: Input should be a valid boolean');
  const model = findModel(models, id);
  if (!counting && Number(maxTokens) > model.maxOutput) {
    throw badRequest(
      `max_tokens: ${String(maxTokens)} > ${model.maxOutput}, which is the maximum allowed number of output tokens for ${id}`,
    );
  }
  const prompt: Prompt = {
    model,
    system: typeof system === 'string' ? [{ type: 'text', text: system }] : blocks(system ?? [], 'system'),
    tools: checkedTools(tools ?? []),
    turns: joined(messages, model),
    maxTokens: counting ? model.maxOutput : Number(maxTokens),
    stream,
    cacheAll: checkedMark(body['cache_control'], 'cache_control'),
    thinkingDisplay: checkedThinkingOption(body['thinking'], Number(maxTokens)),
    compaction: checkedCompaction(body['compaction']),
  };
  checkFormat(body['output_config'], model);
  prompt.system.forEach((block, index) => checkText(block, `system.${index}`));
  checkMarks(prompt);
  checkTurns(prompt.turns);
  const last = prompt.turns.at(-1);
  if (prompt.compaction && last?.blocks.some(({ block }) => block.type === 'tool_use'))
    throw badRequest('messages: the conversation ends on an assistant turn that is not finished');
  if (!prompt.compaction && last?.role === 'assistant')
    throw badRequest('This model does not support assistant message prefill. The conversation must end with a user message.');
  return prompt;
}

function checkFormat(config: unknown, { id, structured }: DoubleModel): void {
  const format = isRecord(config) ? config['format'] : undefined;
  if (!isGiven(format)) return;
  if (!structured) throw badRequest(`output_config.format: structured outputs are not supported by ${id}`);
  if (!isRecord(format) || format['type'] !== 'json_schema' || !isRecord(format['schema']))
    throw badRequest("output_config.format.type: Input should be 'json_schema'");
  if (format['schema']['additionalProperties'] !== false)
    throw badRequest("output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false");
}

function checkedCompaction(compaction: unknown): Prompt['compaction'] {
  if (!isGiven(compaction)) return null;
  if (!isRecord(compaction) || compaction['type'] !== 'summarize') throw badRequest("compaction.type: Input should be 'summarize'");
  const { instructions = null, type: _type, ...more } = compaction;
  if (Object.keys(more).length > 0) throw badRequest(`compaction.${Object.keys(more)[0]!}: Extra inputs are not permitted`);
  if (instructions !== null && typeof instructions !== 'string')
    throw badRequest('compaction.instructions: Input should be a valid string');
  return { instructions: instructions?.trim() ? instructions : null };
}

function parsed(raw: string): Record<string, unknown> {
  let body: unknown;
  try {
    body = JSON.parse(raw);
  } catch (error) {
    throw badRequest(`The request body is not valid JSON: ${(error as Error).message}`);
  }
  if (holdsHalf(raw, body)) throw badRequest('The request body is not valid JSON: no low surrogate in string');
  if (!isRecord(body)) throw badRequest('Input should be an object');
  return body;
}

/** Whether half a surrogate pair is in some string or name of `value`, which is written as `raw`. */
export function holdsHalf(raw: string, value: unknown): boolean {
  // A JSON escape is the only way for it to get here: UTF-8 has none.
  return /\\ud[89a-f]/i.test(raw) && /\p{Surrogate}/u.test(strings(value));
}

function strings(value: unknown): string {
  if (typeof value === 'string') return `${value}\n`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([key, item]) => `${key}\n${strings(item)}`)
    .join('');
}

function checkedTools(tools: unknown): WireTool[] {
  if (!Array.isArray(tools)) throw badRequest('tools: Input should be a valid list');
  const names = new Set<string>();
  return tools.map((tool: unknown, index) => {
    if (!isRecord(tool)) throw badRequest(`tools.${index}: Input should be an object`);
    const { name, input_schema: schema } = tool;
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      throw badRequest(`tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
    if (!isRecord(schema) || schema['type'] !== 'object') throw badRequest(`tools.${index}.custom.input_schema.type: Field required`);
    if (names.has(name)) throw badRequest('tools: Tool names must be unique.');
    names.add(name);
    return { ...tool, name };
  });
}

function checkedThinkingOption(thinking: unknown, maxTokens: number): Prompt['thinkingDisplay'] {
  if (thinking === undefined) return null;
  if (!isRecord(thinking)) throw badRequest('thinking: Input should be an object');
  const { type, display, budget_tokens: budget } = thinking;
  if (!['adaptive', 'enabled', 'disabled', 'between_tools'].includes(String(type)))
    throw badRequest(`thinking: Input tag '${String(type)}' found using 'type' does not match any of the expected tags`);
  if (type === 'enabled' && !(Number(budget) >= 1024))
    throw badRequest('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024');
  if (type === 'enabled' && Number(budget) >= maxTokens) throw badRequest('`max_tokens` must be greater than `thinking.budget_tokens`.');
  if (isGiven(display) && display !== 'summarized' && display !== 'omitted')
    throw badRequest("thinking.adaptive.display: Input should be 'summarized' or 'omitted'");
  return display === 'summarized' || display === 'omitted' ? display : null;
}

function blocks(content: unknown, path: string): WireBlock[] {
  if (!Array.isArray(content)) throw badRequest(`${path}: Input should be a valid list`);
  return content.map((block: unknown, index) => {
    if (!isRecord(block) || typeof block['type'] !== 'string') throw badRequest(`${path}.${index}.type: Field required`);
    return { ...block, type: block['type'] };
  });
}

/** Joins what stands next to each other under one role, as the provider does. */
function joined(messages: unknown, { hears }: DoubleModel): Turn[] {
  if (!Array.isArray(messages)) throw badRequest('messages: Field required');
  if (messages.length === 0) throw badRequest('messages: at least one message is required');
  const turns: { role: Turn['role']; blocks: { block: WireBlock; path: string; system?: true }[] }[] = [];
  messages.forEach((message: unknown, index) => {
    const role = isRecord(message) ? message['role'] : undefined;
    const content = isRecord(message) ? message['content'] : undefined;
    if (role === 'system') {
      checkSystemPlace(index, turns.at(-1), hears !== true);
      turns.at(-1)!.blocks.push(...systemBlocks(content, index));
      return;
    }
    if (role !== 'user' && role !== 'assistant') throw badRequest(`messages.${index}.role: Input should be 'user' or 'assistant'`);
    if (content === undefined) throw badRequest(`messages.${index}.content: Field required`);
    if (content === '' || (Array.isArray(content) && content.length === 0)) {
      throw badRequest(`messages.${index}: all messages must have non-empty content except for the optional final assistant message`);
    }
    const own = typeof content === 'string' ? [{ type: 'text', text: content }] : blocks(content, `messages.${index}.content`);
    const placed = own.map((block, at) => ({ block: withParts(block), path: `messages.${index}.content.${at}` }));
    const last = turns.at(-1);
    if (role === 'user' && last?.blocks.at(-1)?.system)
      throw badRequest(`messages.${index - 1}: a system message must be the last message or be followed by an assistant message`);
    if (last?.role === role) last.blocks.push(...placed);
    else turns.push({ role, blocks: placed });
  });
  return turns;
}

function checkSystemPlace(
  index: number,
  turn: { readonly role: Turn['role']; readonly blocks: Turn['blocks'] } | undefined,
  isDeaf: boolean,
): void {
  if (isDeaf) throw badRequest(`messages.${index}.role: Input should be 'user' or 'assistant'`);
  if (!turn) throw badRequest(`messages.${index}: use the top-level 'system' parameter for the initial system prompt`);
  if (turn.role !== 'user' || turn.blocks.at(-1)?.system)
    throw badRequest(`messages.${index}: a system message must follow a user message`);
}

function systemBlocks(content: unknown, index: number): { block: WireBlock; path: string; system: true }[] {
  const own = typeof content === 'string' ? [{ type: 'text', text: content }] : blocks(content, `messages.${index}.content`);
  if (own.length === 0 || own.some(({ type }) => type !== 'text'))
    throw badRequest(`messages.${index}.content: system messages take text only`);
  return own.map((block, at) => ({ block, path: `messages.${index}.content.${at}`, system: true as const }));
}

/** A tool result whose content is a string is the same as one with a single text block. */
function withParts(block: WireBlock): WireBlock {
  const content = block['content'];
  return block.type === 'tool_result' && typeof content === 'string' ? { ...block, content: [{ type: 'text', text: content }] } : block;
}

const allowed = {
  user: new Set(['text', 'image', 'document', 'tool_result']),
  assistant: new Set(['text', 'thinking', 'redacted_thinking', 'tool_use']),
};

function checkTurns(turns: readonly Turn[]): void {
  if (turns[0]?.role !== 'user') throw badRequest('messages: first message must use the "user" role');
  const ids = new Set<string>();
  for (const [index, { role, blocks: content }] of turns.entries()) {
    for (const { block, path } of content) {
      if (!allowed[role].has(block.type)) throw badRequest(`${path}: \`${block.type}\` blocks are not allowed in \`${role}\` messages`);
      checkText(block, path);
      checkImage(block, path);
      if (block.type === 'tool_use') checkCall(block, path, ids);
    }
    const last = content.at(-1)?.block.type;
    if (last === 'thinking' || last === 'redacted_thinking')
      throw badRequest(`messages.${index}: The final block in an assistant message cannot be \`thinking\`.`);
    checkResults(turns, index);
  }
}

function checkText(block: WireBlock, path: string): void {
  if (block.type !== 'text') return;
  const text = block['text'];
  if (typeof text !== 'string') throw badRequest(`${path}.text.text: Field required`);
  if (text === '') throw badRequest(`${path}: text content blocks must be non-empty`);
  if (text.trim() === '') throw badRequest(`${path}: text content blocks must contain non-whitespace text`);
}

const mediaTypes = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
/** Of the base64 text, not of the bytes it stands for. */
const maxImageBytes = 5_242_880;

function checkImage(block: WireBlock, path: string): void {
  if (block.type !== 'image') return;
  const { source } = block;
  if (!isRecord(source) || source['type'] !== 'base64')
    throw badRequest(`${path}.image.source: Input tag does not match any of the expected tags: 'base64', 'url'`);
  const { media_type: mime, data } = source;
  if (!mediaTypes.includes(String(mime)))
    throw badRequest(`${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`);
  if (typeof data !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw badRequest(`${path}.image.source.base64.data: Input should be valid base64`);
  if (data.length > maxImageBytes)
    throw badRequest(`${path}.image.source.base64: image exceeds 5 MB maximum: ${data.length} bytes > ${maxImageBytes} bytes`);
}

function checkCall(block: WireBlock, path: string, ids: Set<string>): void {
  const { id, name, input } = block as WireBlock & Record<'id' | 'name' | 'input', unknown>;
  if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(id))
    throw badRequest(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof name !== 'string') throw badRequest(`${path}.tool_use.name: Field required`);
  if (!isRecord(input)) throw badRequest(`${path}.tool_use.input: Input should be a valid dictionary`);
  if (ids.has(id)) throw badRequest(`${path}: \`tool_use\` ids must be unique`);
  ids.add(id);
}

/** Every call is answered once, in the next message, before anything else in it; nothing answers a call that was not made. */
function checkResults(turns: readonly Turn[], index: number): void {
  const turn = turns[index];
  if (turn?.role === 'assistant') {
    const open = turn.blocks.flatMap(({ block }) => (block.type === 'tool_use' ? [String(block['id'])] : []));
    const next = turns[index + 1]?.blocks ?? [];
    const end = next.findIndex(({ block }) => block.type !== 'tool_result');
    const answered = new Set((end < 0 ? next : next.slice(0, end)).map(({ block }) => block['tool_use_id']));
    const missing = open.filter((id) => !answered.has(id));
    if (missing.length > 0) {
      throw badRequest(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    return;
  }
  const asked = new Set(turns[index - 1]?.blocks.flatMap(({ block }) => (block.type === 'tool_use' ? [block['id']] : [])));
  const seen = new Set<unknown>();
  for (const { block, path } of turn?.blocks ?? []) {
    if (block.type !== 'tool_result') continue;
    const id = block['tool_use_id'];
    if (!asked.has(id)) {
      throw badRequest(
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(id)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (seen.has(id))
      throw badRequest(`${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${String(id)}`);
    seen.add(id);
    for (const part of Array.isArray(block['content']) ? block['content'] : []) checkText(part as WireBlock, path);
  }
}

function checkMarks({ tools, system, turns, cacheAll }: Prompt): void {
  const all: { readonly block: Readonly<Record<string, unknown>>; readonly path: string }[] = [
    ...tools.map((block, index) => ({ block, path: `tools.${index}` })),
    ...system.map((block, index) => ({ block, path: `system.${index}` })),
    ...turns.flatMap((turn) => turn.blocks),
  ];
  const marked = all.filter(({ block }) => isGiven(block['cache_control']));
  for (const { block, path } of marked) {
    if (block['type'] === 'thinking' || block['type'] === 'redacted_thinking')
      throw badRequest(`${path}.thinking.cache_control: Extra inputs are not permitted`);
  }
  const times = marked.map(({ block, path }) => checkedMark(block['cache_control'], `${path}.cache_control`));
  const late = [...times, cacheAll].findIndex((time, index, all) => time === '1h' && all.slice(0, index).includes('5m'));
  if (late !== -1)
    throw badRequest(
      `${marked[late] ? `${marked[late].path}.` : ''}cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
    );
  const count = marked.length + (cacheAll ? 1 : 0);
  if (count > 4) throw badRequest(`A maximum of 4 blocks with cache_control may be provided. Found ${count}.`);
}

function checkedMark(mark: unknown, path: string): CacheTime | null {
  if (!isGiven(mark)) return null;
  if (!isRecord(mark) || mark['type'] !== 'ephemeral') throw badRequest(`${path}.type: Input should be 'ephemeral'`);
  if (isGiven(mark['ttl']) && mark['ttl'] !== '5m' && mark['ttl'] !== '1h') throw badRequest(`${path}.ttl: Input should be '5m' or '1h'`);
  return cacheTimeOf(mark);
}

/** `null` is the same as leaving it out. */
function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

export function tooLarge(limit: number): ApiError {
  return new ApiError(413, 'request_too_large', `Request exceeds the maximum size of ${limit} bytes`);
}
