import { isObject, type Json } from '../../base/json';
import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { numberOf, parseForeign, textOf, timeOf, wordOf } from './foreignJson';
import { foreignCompaction, messageParts, toolResultParts } from './messageBlocks';

/** A row with its column `data` parsed. */
interface Kept {
  readonly id: string;
  readonly data: Json;
}

const flags = { display: true, modelFacing: true };
/** Where the program began and ended a step on disk: of no use elsewhere. */
const unsaid = new Set(['step-start', 'snapshot']);

/**
 * A session of opencode's database, and of Kilo's, which is the same: messages in order, each with its parts. Rows are written again and
 * again while an answer grows, so a part is told once it is whole, and a call apart from its result.
 */
export function opencodeEvents(
  session: Json,
  messageRows: readonly Json[],
  partRows: readonly Json[],
  hashOf: (value: unknown) => string,
): SourceEvent[] {
  const id = String(session['id']);
  const createdAt = timeOf(session['time_created']);
  const archivedAt = timeOf(session['time_archived']);
  const parentSession = textOf(session['parent_id']);
  const title = textOf(session['title']) ?? '';
  const partsOf = new Map<string, Kept[]>();
  for (const { message, ...part } of partRows.map(rowOf)) {
    const list = partsOf.get(message);
    if (list) list.push(part);
    else partsOf.set(message, [part]);
  }
  const messages = messageRows.map(rowOf);
  const toolNames = new Map<string, string>();
  const events: SourceEvent[] = [
    {
      type: 'session',
      session: {
        id,
        cwd: textOf(session['directory']) ?? null,
        ...(createdAt === null ? {} : { createdAt }),
        ...(archivedAt === null ? {} : { archivedAt }),
        ...(parentSession === undefined ? {} : { metadata: { parentSession } }),
      },
    },
    // What a session is called before its first answer.
    ...(title === '' || /^(?:New|Child) session - /.test(title) ? [] : [{ type: 'title', title, rank: 2 } as const]),
  ];
  for (const [i, message] of messages.entries()) {
    const { data } = message;
    const time = isObject(data['time']) ? data['time'] : {};
    const at = timeOf(time['created']);
    const isGrowing =
      i === messages.length - 1 && data['role'] === 'assistant' && time['completed'] === undefined && data['error'] === undefined;
    const add = (name: string, of: unknown, parts: readonly RecordPart[]) => {
      if (parts.length > 0) events.push({ type: 'record', record: { id: name, parent: undefined, at, hash: hashOf(of), parts } });
    };
    const parts = partsOf.get(message.id) ?? [];
    if (data['summary'] === true && data['role'] === 'assistant') {
      if (isGrowing) continue;
      const text = parts.flatMap((part) => (part.data['type'] === 'text' ? [textOf(part.data['text']) ?? ''] : [])).join('\n');
      add(message.id, text, [noted(foreignCompaction(`${id}/${message.id}/${hashOf(text)}`, text, null, 0))]);
      continue;
    }
    for (const part of parts) {
      const isWhole = !isGrowing || part !== parts.at(-1) || (isObject(part.data['time']) && part.data['time']['end'] !== undefined);
      addPart(part, data, toolNames, isWhole, add);
    }
    const error = data['error'];
    if (isObject(error)) add(`${message.id}/error`, error, [noted(unreadable('error', error))]);
  }
  return events;
}

type Add = (name: string, of: unknown, parts: readonly RecordPart[]) => void;

function addPart({ id, data }: Kept, message: Json, toolNames: Map<string, string>, isWhole: boolean, add: Add): void {
  const role = message['role'] === 'assistant' ? 'assistant' : 'user';
  const named = isObject(message['model']) ? message['model'] : message;
  const [provider, model] = [textOf(named['providerID']) ?? 'opencode', textOf(named['modelID']) ?? 'unknown'];
  const context = { role, toolNames, ...(role === 'assistant' ? { provider, model } : {}) } as const;
  const { type, text } = data;
  if (unsaid.has(wordOf(type))) return;
  if (type === 'text' || type === 'reasoning') {
    if (!isWhole || textOf(text) === undefined || text === '') return;
    if (type === 'reasoning') return add(id, text, [said({ type: 'thinking', text: String(text), provider })]);
    return add(id, text, messageParts(text, { ...context, display: data['synthetic'] !== true, modelFacing: data['ignored'] !== true }));
  }
  if (type === 'tool') {
    const state = isObject(data['state']) ? data['state'] : {};
    const callId = textOf(data['callID']) ?? id;
    // Until then its input is being written.
    if (state['status'] === 'pending') return;
    add(
      id,
      [data['tool'], state['input']],
      messageParts([{ type: 'tool_use', id: callId, name: data['tool'], input: state['input'] }], context),
    );
    if (state['status'] === 'completed' || state['status'] === 'error') {
      const result = textOf(state['output'] ?? state['error']) ?? '';
      add(`${id}/result`, result, toolResultParts(callId, toolNames, result, state['status'] === 'error', flags));
    }
    return;
  }
  if (type === 'step-finish') {
    const tokens = isObject(data['tokens']) ? data['tokens'] : {};
    const cache = isObject(tokens['cache']) ? tokens['cache'] : {};
    const [input, out, thought, cacheRead, cacheWrite] = [
      tokens['input'],
      tokens['output'],
      tokens['reasoning'],
      cache['read'],
      cache['write'],
    ].map(numberOf) as [number, number, number, number, number];
    const cost = typeof data['cost'] === 'number' && data['cost'] > 0 ? data['cost'] : null;
    if (input + out === 0) return;
    const usage = { provider, model, input, output: out + thought, cacheRead, cacheWrite, cost };
    return add(id, data, [{ ...kept(unreadable('step-finish', { tokens, cost })), usage }]);
  }
  const picture = /^data:(image\/[\w.+-]+);base64,(.*)$/s.exec(textOf(data['url']) ?? '');
  if (type === 'file' && picture) return add(id, data, messageParts([{ type: 'image', mimeType: picture[1], data: picture[2] }], context));
  add(id, data, [kept(unreadable(wordOf(type ?? 'part'), data))]);
}

function rowOf(row: Json): Kept & { readonly message: string } {
  const data = parseForeign(String(row['data']))?.value;
  return { id: String(row['id']), message: String(row['message_id']), data: isObject(data) ? data : {} };
}
