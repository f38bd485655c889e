import type { ModelBlock, ModelMessage, ModelRequest } from '../../core/models/modelRequest';
import type { ThinkingLevel } from '../../core/context/thinkingLevel';
import { imageInWords } from '../../core/chat/imageInWords';
import { asToolInput } from './toolInput';

/** What a server has shown to take; found out once and kept. */
export interface ChatDialect {
  /** Reasoning models of OpenAI refuse `max_tokens`, most other servers do not know the newer name. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** Older servers refuse `stream_options`, and report no usage. */
  readonly usage: boolean;
  /** Models without eyes refuse what has an image in it. */
  readonly images: boolean;
  /** Not every server can hold a model to a schema. */
  readonly schemas: boolean;
  /** The effort that stands for no thinking, the least that the model takes; null: it takes no effort at all. */
  readonly least: 'none' | 'minimal' | 'low' | null;
}

type WireMessage = Readonly<Record<string, unknown>>;

/** Models of OpenAI think with `minimal` effort before they can be told `none`, and with `low` before that. */
const more = { none: 'minimal', minimal: 'low', low: null } as const;

/** `o3`, `gpt-5-mini`, `openai/o4-mini`. */
export function firstDialect(model: string): ChatDialect {
  return { limit: /(^|\/)(o\d|gpt-[5-9])/i.test(model) ? 'max_completion_tokens' : 'max_tokens', usage: true, images: true, schemas: true, least: 'none' };
}

/** The dialect to try when a server has refused another; undefined when its words are about something else. */
export function otherDialect(dialect: ChatDialect, refusal: string, thinking: ThinkingLevel | undefined): ChatDialect | undefined {
  if (dialect.least && thinking && /reasoning[_. ]effort/i.test(refusal)) return { ...dialect, least: (thinking === 'off' && !/unrecognized|unknown|unsupported parameter|not permitted|extra/i.test(refusal) && more[dialect.least]) || null };
  if (dialect.usage && /stream_options|include_usage/i.test(refusal)) return { ...dialect, usage: false };
  if (dialect.schemas && /response_format|json_schema|structured output|\bgrammar\b/i.test(refusal)) return { ...dialect, schemas: false };
  if (dialect.images && /\bimage(_url|s| input)?\b|\bvision\b|multimodal/i.test(refusal)) return { ...dialect, images: false };
  const refused = /max_completion_tokens/i.test(refusal) && !/['"`]max_tokens['"`]/i.test(refusal) ? 'max_completion_tokens' : /max_tokens/i.test(refusal) ? 'max_tokens' : null;
  const isName = /unsupported|not supported|unknown|unrecognized|not permitted|extra|use ['"`]?max_/i.test(refusal);
  if (refused !== dialect.limit || !isName) return undefined;
  return { ...dialect, limit: refused === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens' };
}

/** The request as the Chat Completions API takes it. */
export function chatCompletionBody(request: ModelRequest, dialect: ChatDialect): Record<string, unknown> {
  return {
    model: request.model,
    messages: wireMessages(request, dialect.images),
    stream: true,
    ...(dialect.usage ? { stream_options: { include_usage: true } } : {}),
    [dialect.limit]: request.maxOutputTokens,
    ...(request.thinking && dialect.least ? { reasoning_effort: request.thinking === 'off' ? dialect.least : request.thinking } : {}),
    ...(request.answerSchema && dialect.schemas ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: request.answerSchema } } } : {}),
    ...(request.tools.length > 0 ? { tools: request.tools.map(({ name, description, inputSchema }) => ({ type: 'function', function: { name, description, parameters: inputSchema } })) } : {}),
  };
}

/** Thinking is left out: servers refuse it, or count it as text. Consecutive messages of one role are joined: many templates demand turns. */
function wireMessages({ system, systemSummary, messages }: ModelRequest, images: boolean): WireMessage[] {
  const head = [system, systemSummary ?? ''].filter((text) => text.trim() !== '').join('\n\n');
  const wire: WireMessage[] = head === '' ? [] : [{ role: 'system', content: head }];
  for (const message of joined(messages)) wire.push(...(message.role === 'user' ? userMessages(message.blocks, images) : assistantMessage(message.blocks)));
  return wire;
}

/** Results stand directly behind their calls, each as a message of its own. */
function userMessages(blocks: readonly ModelBlock[], images: boolean): WireMessage[] {
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [{ role: 'tool', tool_call_id: fittingId(block.callId), content: resultText(block) }] : []));
  const text = textOf(blocks, !images);
  const pictures = images ? imagesOf(blocks) : [];
  const content = pictures.length === 0 ? text : [...(text === '' ? [] : [{ type: 'text', text }]), ...pictures.map(({ mime, data }) => ({ type: 'image_url', image_url: { url: `data:${mime};base64,${data}` } }))];
  return content === '' ? results : [...results, { role: 'user', content }];
}

function assistantMessage(blocks: readonly ModelBlock[]): WireMessage[] {
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: fittingId(block.callId), type: 'function', function: { name: block.name, arguments: JSON.stringify(asToolInput(block.input)) } }] : [],
  );
  const text = textOf(blocks);
  if (calls.length === 0) return text === '' ? [] : [{ role: 'assistant', content: text }];
  return [{ role: 'assistant', content: text === '' ? null : text, tool_calls: calls }];
}

/** OpenAI takes 40 characters; other providers make longer ones, and what tells them apart stands at their end. */
function fittingId(callId: string): string {
  return callId.slice(-40);
}

export function joined(messages: readonly ModelMessage[]): ModelMessage[] {
  const all: { role: ModelMessage['role']; blocks: ModelBlock[] }[] = [];
  for (const { role, blocks } of messages) {
    const last = all.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else all.push({ role, blocks: [...blocks] });
  }
  return all;
}

/** `describesImages`: they stand there in words, for models that see none. */
export function textOf(blocks: readonly ModelBlock[], describesImages = true): string {
  const texts = blocks.map((block) => (block.type === 'text' ? block.text : block.type === 'image' && describesImages ? imageInWords(block) : ''));
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

export function imagesOf(blocks: readonly ModelBlock[]): Extract<ModelBlock, { type: 'image' }>[] {
  return blocks.filter((block) => block.type === 'image');
}

/** The wire format has no mark for an error. */
export function resultText({ text, isError }: Extract<ModelBlock, { type: 'tool_result' }>): string {
  return isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}
