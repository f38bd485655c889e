import type { ModelBlock, ModelRequest } from '../../../core/models/modelRequest';
import { imagesOf, joined, resultText, textOf } from '../openai/chatCompletionRequest';
import { asToolInput } from '../requestParts';
import type { ThinkingControl, ThinkingLevel } from '../../../core/models/modelInfo';

export interface OllamaOptions {
  /** The context that the server is to hold, in tokens. It takes 4,096 or less when it is not told. */
  readonly contextTokens: number;
  /** The server refuses tools for models that cannot call any. */
  readonly tools: boolean;
  /** The model sees images. */
  readonly images: boolean;
  /** What it may be told about thinking. */
  readonly thinks: readonly ThinkValue[];
}

type WireMessage = Readonly<Record<string, unknown>>;

/** The request as `/api/chat` takes it. */
export function ollamaBody(request: ModelRequest, { contextTokens, tools, images, thinks }: OllamaOptions): Record<string, unknown> {
  const think = request.thinking && thinkValue(request.thinking, thinks);
  return {
    model: request.model,
    messages: ollamaMessages(request, images),
    stream: true,
    ...(think === undefined ? {} : { think }),
    ...(request.answerSchema ? { format: request.answerSchema } : {}),
    options: { num_ctx: contextTokens, num_predict: request.maxOutputTokens },
    ...(tools && request.tools.length > 0
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
 * One system message, in front: of more than one Ollama makes a single text, which most templates put there, and the prompt that it has
 * cached would change from its beginning (`collate` in its template package). What the program says later stays in the user's messages.
 * Without thinking: templates that want that of an earlier answer take it from nowhere else than the running one.
 */
function ollamaMessages({ system, systemSummary, messages }: ModelRequest, images: boolean): WireMessage[] {
  const head = [system, systemSummary ?? ''].filter((text) => text.trim() !== '').join('\n\n');
  const wire: WireMessage[] = head === '' ? [] : [{ role: 'system', content: head }];
  const names = new Map<string, string>();
  for (const { role, blocks } of joined(messages)) {
    for (const block of blocks) if (block.type === 'tool_use') names.set(block.callId, block.name);
    wire.push(...(role === 'user' ? userMessages(blocks, names, images) : assistantMessage(blocks)));
  }
  return wire;
}

/** Results are known by the name of the tool and their order. */
function userMessages(blocks: readonly ModelBlock[], names: ReadonlyMap<string, string>, images: boolean): WireMessage[] {
  const results = blocks.flatMap((block) =>
    block.type === 'tool_result' ? [{ role: 'tool', tool_name: names.get(block.callId) ?? '', content: resultText(block) }] : [],
  );
  const text = textOf(blocks, !images);
  const pictures = images ? imagesOf(blocks).map(({ data }) => data) : [];
  if (text === '' && pictures.length === 0) return results;
  return [...results, { role: 'user', content: text, ...(pictures.length > 0 ? { images: pictures } : {}) }];
}

function assistantMessage(blocks: readonly ModelBlock[]): WireMessage[] {
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use' ? [{ function: { name: block.name, arguments: asToolInput(block.input) } }] : [],
  );
  const text = textOf(blocks);
  return calls.length === 0 && text === ''
    ? []
    : [{ role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

/** Thinking is on, off, or at one of a model's levels. */
export type ThinkValue = boolean | string;

/**
 * What a model may be told about thinking, from `/api/show`: newer servers list it (`thinking.values`), those before only say that
 * it thinks. Of these the gpt-oss models take levels and nothing else, all others on and off.
 */
export function thinkValues(shown: Readonly<Record<string, unknown>>, thinks: boolean): readonly ThinkValue[] {
  const { values } = (shown['thinking'] ?? {}) as { values?: unknown };
  if (Array.isArray(values)) return values.filter((value): value is ThinkValue => typeof value === 'boolean' || typeof value === 'string');
  if (!thinks) return [];
  const { family } = (shown['details'] ?? {}) as { family?: unknown };
  return typeof family === 'string' && /^gpt-?oss/i.test(family) ? ['low', 'medium', 'high'] : [true, false];
}

export function thinkingControl(values: readonly ThinkValue[]): ThinkingControl {
  const canBeOff = values.includes(false) || values.includes('none');
  if (values.some((value) => typeof value === 'string' && value !== 'none')) return canBeOff ? 'levels' : 'always';
  return canBeOff && values.includes(true) ? 'switch' : 'none';
}

/** A value that the model does not know makes some servers refuse and others do as they like. Undefined: nothing comes near. */
function thinkValue(level: ThinkingLevel, values: readonly ThinkValue[]): ThinkValue | undefined {
  const wishes: readonly ThinkValue[] = level === 'off' ? [false, 'none', 'minimal', 'low'] : [level, true];
  return wishes.find((wish) => values.includes(wish));
}
