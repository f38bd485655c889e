import { imageInWords, type ModelBlock, type ModelMessage, type ModelRequest } from '../../../core/models/modelRequest';
import type { OpenaiDialect } from './openaiDialect';
import { plainName, systemRuns, asToolInput, type Run } from '../requestParts';

type WireMessage = Readonly<Record<string, unknown>>;

/** A function's name has at most so many characters, and no others than letters, digits, `_` and `-`. */
const longestName = 64;

/** The request as the Chat Completions API takes it. */
export function chatCompletionBody(request: ModelRequest, dialect: OpenaiDialect): Record<string, unknown> {
  return {
    model: request.model,
    messages: wireMessages(request, dialect),
    stream: true,
    ...(dialect.usage ? { stream_options: { include_usage: true } } : {}),
    [dialect.limit]: request.maxOutputTokens,
    ...(request.thinking && dialect.least ? { reasoning_effort: request.thinking === 'off' ? dialect.least : request.thinking } : {}),
    ...(request.answerSchema && dialect.schemas
      ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: request.answerSchema } } }
      : {}),
    ...(request.tools.length > 0
      ? {
          tools: request.tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            function: { name, description, parameters: inputSchema },
          })),
        }
      : {}),
  };
}

/**
 * Stands for the thinking that is asked back: it is signed by no one, and a request has only what is signed. Kimi takes an empty text for
 * none.
 */
const someThinking = ' ';

/**
 * Stands for a signature, which is not kept: https://ai.google.dev/gemini-api/docs/thought-signatures has it for calls that another model
 * has made, and has signatures stand there in the messages of this API.
 */
const someSignature = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };

/**
 * Thinking is left out: most servers refuse it, or count it as text. Consecutive messages of one role are joined: many templates demand
 * turns.
 */
function wireMessages({ system, systemSummary, messages }: ModelRequest, dialect: OpenaiDialect): WireMessage[] {
  const head = [system, systemSummary ?? ''].filter((text) => text.trim() !== '').join('\n\n');
  const wire: WireMessage[] = head === '' ? [] : [{ role: 'system', content: head }];
  for (const message of joined(messages))
    wire.push(...(message.role === 'user' ? userMessages(message.blocks, dialect) : assistantMessage(message.blocks, dialect)));
  return wire;
}

/** Results stand directly behind their calls, each as a message of its own. */
function userMessages(blocks: readonly ModelBlock[], { images, systemInside }: OpenaiDialect): WireMessage[] {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [{ role: 'tool', tool_call_id: fittingId(block.callId), content: resultText(block) }] : [],
  );
  const runs = systemInside ? systemRuns(blocks) : [{ as: 'user', blocks } as const];
  return [...results, ...runs.flatMap((run) => saidMessage(run, images))];
}

function saidMessage({ as, blocks }: Run, images: boolean): WireMessage[] {
  const text = textOf(blocks, !images);
  const pictures = images ? imagesOf(blocks) : [];
  const content =
    pictures.length === 0
      ? text
      : [
          ...(text === '' ? [] : [{ type: 'text', text }]),
          ...pictures.map(({ mime, data }) => ({ type: 'image_url', image_url: { url: `data:${mime};base64,${data}` } })),
        ];
  return content === '' ? [] : [{ role: as, content }];
}

function assistantMessage(blocks: readonly ModelBlock[], { thinkingBack, signsCalls }: OpenaiDialect): WireMessage[] {
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: fittingId(block.callId),
            type: 'function',
            function: { name: plainName(block.name, longestName), arguments: JSON.stringify(asToolInput(block.input)) },
            ...(signsCalls ? someSignature : {}),
          },
        ]
      : [],
  );
  const text = textOf(blocks);
  if (calls.length === 0 && text === '') return [];
  // DeepSeek takes no thinking beside a content of null.
  const content = text === '' && !thinkingBack ? null : text;
  const thinking = thinkingBack ? { reasoning_content: someThinking } : {};
  return [{ role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}), ...thinking }];
}

/** OpenAI takes 40 characters; other providers make longer ones, and what tells them apart stands at their end. */
export function fittingId(callId: string): string {
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
  const texts = blocks.map((block) =>
    block.type === 'text' ? block.text : block.type === 'image' && describesImages ? imageInWords(block) : '',
  );
  return texts.filter((text) => text.trim() !== '').join('\n\n');
}

export function imagesOf(blocks: readonly ModelBlock[]): Extract<ModelBlock, { type: 'image' }>[] {
  return blocks.filter((block) => block.type === 'image');
}

/** The wire format has no mark for an error. */
export function resultText({ text, isError }: Extract<ModelBlock, { type: 'tool_result' }>): string {
  return isError && !/^error\b/i.test(text) ? `Error: ${text}` : text;
}
