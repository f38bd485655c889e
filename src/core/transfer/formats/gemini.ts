import { english } from '../../l10n';
import { isObject, type Json } from '../../base/json';
import { kept, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { parseForeign, textOf, timeOf } from './foreignJson';
import { geminiParts, geminiUsage, responseParts } from './geminiParts';
import { messageParts } from './messageBlocks';

interface Chat {
  readonly header: Json;
  readonly messages: readonly unknown[];
  /** Lines that are no JSON. */
  readonly broken: number;
}

/** The folder of the project, where it is known; the files themselves name only a hash of it. */
export interface GeminiPlace {
  readonly cwd: string | null;
  readonly fallbackId: string;
}

/**
 * A chat of Gemini CLI: lines that are to be carried out one after the other (an id again replaces its message, `$set` the whole list,
 * `$rewindTo` drops what follows), or one object, as versions before 0.40 had it. So it is read as a whole, and told as what came of it.
 * What grows within a message has records of its own (its text, each call, each result): nothing is taken twice.
 */
export function geminiEvents(text: string, { cwd, fallbackId }: GeminiPlace, hashOf: (value: unknown) => string): SourceEvent[] {
  const { header, messages, broken } = chatOf(text);
  const createdAt = timeOf(header['startTime']);
  const toolNames = new Map<string, string>();
  const events: SourceEvent[] = [
    { type: 'session', session: { id: textOf(header['sessionId']) ?? fallbackId, cwd, ...(createdAt === null ? {} : { createdAt }) } },
  ];
  for (let i = 0; i < broken; i++) events.push({ type: 'repaired', kind: english('line that is no JSON') });
  for (const [i, message] of messages.entries()) {
    const id = (isObject(message) ? textOf(message['id']) : undefined) ?? `m${i}`;
    const at = isObject(message) ? timeOf(message['timestamp']) : null;
    const add = (name: string, of: unknown, parts: readonly RecordPart[]) => {
      if (parts.length > 0) events.push({ type: 'record', record: { id: name, parent: undefined, at, hash: hashOf(of), parts } });
    };
    if (!isObject(message)) add(id, message, [kept(unreadable('message', message))]);
    else addMessage(message, id, toolNames, add);
  }
  return events;
}

type Add = (name: string, of: unknown, parts: readonly RecordPart[]) => void;

function addMessage(message: Json, id: string, toolNames: Map<string, string>, add: Add): void {
  const { type, content } = message;
  if (type === 'user') {
    // The results of calls stand with these already.
    if (Array.isArray(content) && content.length > 0 && content.every((part: unknown) => isObject(part) && 'functionResponse' in part))
      return;
    const parts = geminiParts(content, 'user', toolNames, undefined);
    const isContext = parts.some((part) => part.content.type === 'message' && part.content.text.startsWith('<session_context>'));
    return add(id, content, isContext ? parts.map((part) => ({ ...part, display: false })) : parts);
  }
  if (type !== 'gemini') return add(id, message, [kept(unreadable(`type:${textOf(type) ?? 'none'}`, message))]);
  const model = textOf(message['model']);
  const thoughts = (Array.isArray(message['thoughts']) ? message['thoughts'] : []).filter(isObject).map((thought): RecordPart => {
    const text = [textOf(thought['subject']), textOf(thought['description'])].filter(Boolean).join('\n');
    return said({ type: 'thinking', text, provider: 'google' });
  });
  const spoken = [...thoughts, ...geminiParts(content, 'assistant', toolNames, model)].filter(
    (part) => part.content.type !== 'message' || part.content.text !== '',
  );
  const usage = geminiUsage(
    isObject(message['tokens']) ? message['tokens'] : {},
    ['input', 'output', 'cached', 'thoughts'],
    model ?? 'unknown',
  );
  add(
    id,
    [message['thoughts'], content],
    spoken.map((part, i) => (usage && i === 0 ? { ...part, usage } : part)),
  );
  const calls = (Array.isArray(message['toolCalls']) ? message['toolCalls'] : []).filter(isObject);
  for (const [i, call] of calls.entries()) {
    const callId = textOf(call['id']) ?? `${id}/${i}`;
    add(
      `${id}/c${i}`,
      [call['name'], call['args']],
      messageParts([{ type: 'tool_use', id: callId, name: call['name'], input: call['args'] }], {
        role: 'assistant',
        toolNames,
        provider: 'google',
        ...(model === undefined ? {} : { model }),
      }),
    );
  }
  for (const [i, call] of calls.entries()) {
    const callId = textOf(call['id']) ?? `${id}/${i}`;
    const results = (Array.isArray(call['result']) ? call['result'] : []).filter(isObject);
    const responses = results.flatMap((one) => (isObject(one['functionResponse']) ? [one['functionResponse']] : []));
    const parts = responses.slice(0, 1).flatMap((response) => responseParts({ ...response, id: callId }, toolNames));
    add(
      `${id}/r${i}`,
      call['result'],
      call['status'] === 'error' || call['status'] === 'cancelled'
        ? parts.map((part) => (part.content.type === 'tool_result' ? { ...part, content: { ...part.content, status: 'error' } } : part))
        : parts,
    );
  }
}

function chatOf(text: string): Chat {
  const whole = /^\s*\{[^\n]*\n\s*"/.test(text) || !text.includes('\n') ? parseForeign(text)?.value : undefined;
  if (isObject(whole) && Array.isArray(whole['messages'])) return { header: whole, messages: whole['messages'], broken: 0 };
  let header: Json = {};
  let messages = new Map<string, unknown>();
  let [broken, unnamed] = [0, 0];
  const name = (message: unknown) => (isObject(message) ? textOf(message['id']) : undefined) ?? `#${unnamed++}`;
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parseForeign(line)?.value;
    if (!isObject(value)) {
      // The rest of the last one is still to come.
      if (i < lines.length - 1) broken++;
      continue;
    }
    const { $set: set, $rewindTo: back } = value;
    if (typeof back === 'string') {
      const ids = [...messages.keys()];
      const at = ids.indexOf(back);
      for (const id of at === -1 ? ids : ids.slice(at)) messages.delete(id);
    } else if (isObject(set)) {
      if (Array.isArray(set['messages'])) messages = new Map(set['messages'].map((message: unknown) => [name(message), message]));
      header = { ...header, ...set, messages: undefined };
    } else if (typeof value['sessionId'] === 'string' && value['type'] === undefined) header = { ...header, ...value };
    else messages.set(name(value), value);
  }
  return { header, messages: [...messages.values()], broken };
}
