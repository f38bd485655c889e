import { kept, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { isObject, type Json } from '../../base/json';
import { joinedText, numberOf, otherFields, textOf, timeOf } from './foreignJson';
import { editParts, namedEdits } from '../fileEdits';
import { messageParts } from './messageBlocks';

const known = new Set(['id', 'role', 'content', 'ts', 'modelInfo', 'metrics', 'agent', 'sessionId']);
/** What Cline puts around the user's words. */
const wrapped = /^<user_input mode="(\w+)">([^]*)<\/user_input>$/;

/**
 * `<id>.messages.json` of Cline 3 (as 3.0.65 writes it): every message in order, in the shape of the Messages API. `manifest`: `<id>.json`
 * beside it. What Cline has compacted stands in a file of its own; here is the whole conversation.
 */
export function clineEvents(file: Json, manifest: Json, fallbackId: string, hashOf: (value: unknown) => string): SourceEvent[] {
  const toolNames = new Map<string, string>();
  const messages = Array.isArray(file['messages']) ? (file['messages'] as unknown[]) : [];
  const metadata = isObject(manifest['metadata']) ? manifest['metadata'] : {};
  const title = textOf(metadata['title']) ?? '';
  const createdAt = timeOf(manifest['started_at']) ?? messages.filter(isObject).map(({ ts }) => timeOf(ts))[0] ?? null;
  return [
    {
      type: 'session',
      session: {
        id: (file['agent'] === 'lead' ? textOf(file['sessionId']) : undefined) ?? fallbackId,
        cwd: textOf(manifest['cwd']) ?? null,
        ...(createdAt === null ? {} : { createdAt }),
      },
    },
    ...(title === '' ? [] : [{ type: 'title', title, rank: 2 } as const]),
    ...messages.map((message, i): SourceEvent => {
      const record = { id: isObject(message) ? (textOf(message['id']) ?? `m${i}`) : `m${i}`, parent: undefined, hash: hashOf(message) };
      if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant'))
        return { type: 'record', record: { ...record, at: null, parts: [kept(unreadable('message', message))] } };
      return {
        type: 'record',
        record: {
          ...record,
          at: timeOf(message['ts']),
          parts: partsOf(message, message['role'], toolNames, textOf(manifest['cwd']) ?? ''),
        },
      };
    }),
  ];
}

function partsOf(message: Json, role: 'user' | 'assistant', toolNames: Map<string, string>, cwd: string): RecordPart[] {
  const model = isObject(message['modelInfo']) ? message['modelInfo'] : {};
  const origin = { provider: textOf(model['provider']) ?? 'cline', model: textOf(model['id']) ?? 'unknown' };
  // Notices of Cline's own.
  const modelFacing = !(isObject(message['metadata']) && message['metadata']['displayOnly'] === true);
  const parts = messageParts(withFiles(message['content']), { role, toolNames, modelFacing, ...(role === 'assistant' ? origin : {}) }).map(
    unwrapped,
  );
  const usage = usageOf(message['metrics'], origin);
  const other = otherFields(message, known);
  return [
    ...parts.map((part, i) => (usage && i === parts.length - 1 ? { ...part, usage } : part)),
    ...(other === undefined ? [] : [kept(unreadable('fields', other))]),
    ...editParts(namedEdits(parts), cwd),
  ];
}

/** Files are texts, as Cline sends them. */
function withFiles(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.flatMap((block: unknown) => {
    if (!isObject(block)) return [block];
    if (block['type'] === 'tool_result') return [withOutcomes(block)];
    return block['type'] === 'file' && typeof block['content'] === 'string'
      ? [text(`<file_content path="${textOf(block['path']) ?? ''}">\n${block['content']}\n</file_content>`)]
      : [block];
  });
}

/** A tool that was asked for several things answers each: `{query, result, error?, success}`. To the model Cline sends these as JSON. */
function withOutcomes(block: Json): Json {
  const content = block['content'];
  if (!Array.isArray(content)) return block;
  const outcomes = content.filter((one: unknown) => isObject(one) && typeof one['success'] === 'boolean') as Json[];
  const answers = content.flatMap((one: unknown) => {
    if (!isObject(one) || typeof one['success'] !== 'boolean') return withFiles([one]) as unknown[];
    const { query, result, error } = one;
    const head = typeof query === 'string' && content.length > 1 ? [text(`${query}:`)] : [];
    const fault = textOf(error);
    const isEmpty = result === undefined || result === null || result === '';
    const found = Array.isArray(result)
      ? (withFiles(result) as unknown[])
      : isEmpty && fault
        ? []
        : [text(typeof result === 'string' && !isEmpty ? result : JSON.stringify(result ?? null))];
    return [...head, ...found, ...(fault ? [text(fault)] : [])];
  });
  return {
    ...block,
    content: answers,
    is_error: block['is_error'] === true || (outcomes.length > 0 && outcomes.every((one) => one['success'] === false)),
  };
}

function text(of: string): Json {
  return { type: 'text', text: of };
}

function unwrapped(part: RecordPart): RecordPart {
  const { content } = part;
  if (content.type !== 'message' || content.role !== 'user') return part;
  return { ...part, content: { ...content, text: wrapped.exec(content.text)?.[2] ?? content.text } };
}

/** Its input has what was cached in it. */
function usageOf(value: unknown, origin: { readonly provider: string; readonly model: string }): RecordPart['usage'] {
  if (!isObject(value)) return undefined;
  const [all, output, cacheRead, cacheWrite] = [
    value['inputTokens'],
    value['outputTokens'],
    value['cacheReadTokens'],
    value['cacheWriteTokens'],
  ].map(numberOf) as [number, number, number, number];
  if (all + output === 0) return undefined;
  return {
    ...origin,
    input: Math.max(0, all - cacheRead - cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    cost: typeof value['cost'] === 'number' ? value['cost'] : null,
  };
}

/**
 * `api_conversation_history.json` of Cline and Roo: messages of the Messages API, in order. What Roo has condensed or cut off is
 * marked on the messages, and its summary is one of them: so they are kept out of the prompt one by one.
 */
export function taskEvents(id: string, messages: readonly unknown[], hashOf: (value: unknown) => string): SourceEvent[] {
  const toolNames = new Map<string, string>();
  const first = messages.find(isObject);
  const createdAt = timeOf(first?.['ts']) ?? timeOf(Number(id));
  return [
    { type: 'session', session: { id, ...(createdAt === null ? {} : { createdAt }) } },
    ...folderIn(first),
    ...messages.map((message, i): SourceEvent => {
      const record = { id: `m${i}`, parent: undefined, hash: hashOf(message) };
      if (!isObject(message) || (message['role'] !== 'user' && message['role'] !== 'assistant'))
        return { type: 'record', record: { ...record, at: null, parts: [kept(unreadable('message', message))] } };
      const modelFacing =
        message['condenseParent'] === undefined && message['truncationParent'] === undefined && message['isTruncationMarker'] !== true;
      return {
        type: 'record',
        record: {
          ...record,
          at: timeOf(message['ts']),
          parts: messageParts(message['content'], { role: message['role'], toolNames, modelFacing, display: true }),
        },
      };
    }),
  ];
}

/** They tell the model where it is, and keep it nowhere else. */
function folderIn(first: Json | undefined): SourceEvent[] {
  const found = /^# Current (?:Working|Workspace) Directory \(([^)\n]{1,1000})\)/m.exec(joinedText(first?.['content']));
  return found ? [{ type: 'cwd', cwd: found[1]! }] : [];
}
