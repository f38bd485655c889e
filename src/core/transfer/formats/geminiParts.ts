import { isObject, type Json } from '../../base/json';
import { joinedText, numberOf, textOf } from './foreignJson';
import { messageParts, toolResultParts } from './messageBlocks';
import { kept, said, unreadable, type RecordPart } from '../sourceRecord';

const flags = { display: true, modelFacing: true };

/** `parts` of Google's API: texts, thoughts, pictures, calls and what they answered, in their order. A text stands for one part. */
export function geminiParts(
  content: unknown,
  role: 'user' | 'assistant',
  toolNames: Map<string, string>,
  model: string | undefined,
): RecordPart[] {
  const origin = role === 'assistant' ? { provider: 'google', ...(model === undefined ? {} : { model }) } : {};
  const message = (block: unknown) => messageParts([block], { role, toolNames, ...origin });
  const list: readonly unknown[] = typeof content === 'string' ? [{ text: content }] : Array.isArray(content) ? content : [];
  return list.flatMap((part): RecordPart[] => {
    if (typeof part === 'string') return message({ type: 'text', text: part });
    if (!isObject(part)) return [kept(unreadable('part', part))];
    const { functionCall: call, functionResponse: response, inlineData: picture } = part;
    if (isObject(call)) return message({ type: 'tool_use', id: call['id'] ?? call['name'], name: call['name'], input: call['args'] });
    if (isObject(response)) return responseParts(response, toolNames);
    if (isObject(picture)) return message({ type: 'image', ...picture });
    const text = textOf(part['text']);
    if (text === undefined) return [kept(unreadable('part', part))];
    if (part['thought'] === true) return [said({ type: 'thinking', text, provider: 'google' }, flags)];
    return message({ type: 'text', text });
  });
}

/** What a call answered: `{id, name, response: {output | error}}`. */
export function responseParts(response: Json, toolNames: Map<string, string>): RecordPart[] {
  const inner = isObject(response['response']) ? response['response'] : {};
  const error = textOf(inner['error']);
  const text = error ?? textOf(inner['output']) ?? (joinedText(inner['content']) || JSON.stringify(inner));
  return toolResultParts(textOf(response['id'] ?? response['name']) ?? '', toolNames, text, error !== undefined, flags);
}

export function geminiUsage(tokens: Json, names: readonly [string, string, string, string], model: string): RecordPart['usage'] {
  const [all, output, cached, thoughts] = names.map((name) => numberOf(tokens[name])) as [number, number, number, number];
  if (all + output === 0) return undefined;
  return {
    provider: 'google',
    model,
    input: Math.max(0, all - cached),
    output: output + thoughts,
    cacheRead: cached,
    cacheWrite: 0,
    cost: null,
  };
}
