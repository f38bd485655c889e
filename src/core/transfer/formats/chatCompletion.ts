import { kept, unreadable, noted, type RecordPart, type SourceEvent } from '../sourceRecord';
import { isObject, type Json } from '../../base/json';
import { textOf, timeOf } from './foreignJson';
import { messageParts, toolResultParts, foreignCompaction } from './messageBlocks';

const flags = { display: true, modelFacing: true };

/**
 * A message in the shape of Chat Completions (`tool_calls`, `tool_call_id`), which programs write with names of their own case
 * (`ToolCallID`). `open`: calls without a result so far, the last one made last; a result that names none belongs to the first of them.
 */
function chatMessageParts(message: Json, toolNames: Map<string, string>, open: string[]): RecordPart[] {
  const role = textOf(field(message, 'role')) ?? '';
  const content = field(message, 'content');
  switch (role) {
    case 'user':
      return messageParts(content, { role, toolNames });
    case 'assistant': {
      const calls = list(field(message, 'toolcalls')).map(callOf);
      for (const { id } of calls) open.push(id);
      const said = messageParts(content, { role, toolNames }).filter((part) => part.content.type !== 'message' || part.content.text !== '');
      return [...said, ...messageParts(calls, { role, toolNames })];
    }
    case 'tool':
    case 'function': {
      const named = textOf(field(message, 'toolcallid'));
      const callId = named ?? open[0];
      if (callId === undefined) return [kept(unreadable(`role:${role}`, message))];
      if (open.includes(callId)) open.splice(open.indexOf(callId), 1);
      return toolResultParts(callId, toolNames, content, false, flags);
    }
    default:
      // The system prompt of another program is nobody's word here.
      return [kept(unreadable(`role:${role}`, message))];
  }
}

/** Whatever the case of its name: `tool_call_id`, `toolCallId` and `ToolCallID` are one. */
export function field(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  const found = Object.keys(value).find((key) => key.replaceAll('_', '').toLowerCase() === name);
  return found === undefined ? undefined : value[found];
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function callOf(call: unknown): { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown } {
  const named = field(call, 'function') ?? call;
  const given = field(named, 'arguments') ?? {};
  let input: unknown = given;
  try {
    if (typeof given === 'string') input = JSON.parse(given);
  } catch {
    // A call that was cut off stays as it was written.
  }
  return { type: 'tool_use', id: textOf(field(call, 'id')) ?? '', name: textOf(field(named, 'name')) ?? 'tool', input };
}

type Rows = readonly { readonly row: Json; readonly hash: string }[];

/**
 * A row of `sessions` (id, metadata) and its rows of `messages` (role, content, tool_calls, timestamp), as the Goose pattern lays them out.
 */
export function emonkEvents(session: Json, messages: Rows): SourceEvent[] {
  const id = String(session['id']);
  const createdAt = localTime(session['created_at']);
  const metadata = jsonOf(session['metadata']);
  const { cost_limit: limit, ...own } = isObject(metadata) ? metadata : {};
  const toolNames = new Map<string, string>();
  const open: string[] = [];
  return [
    {
      type: 'session',
      session: {
        id,
        ...(createdAt === null ? {} : { createdAt }),
        metadata: own,
        ...(typeof limit === 'number' && limit > 0 ? { costLimit: limit } : {}),
      },
    },
    ...messages.map(({ row, hash }): SourceEvent => {
      const calls = jsonOf(row['tool_calls']);
      return {
        type: 'record',
        record: {
          id: String(row['id']),
          parent: undefined,
          at: localTime(row['timestamp']),
          hash,
          parts: chatMessageParts({ role: row['role'], content: row['content'], tool_calls: calls }, toolNames, open),
        },
      };
    }),
  ];
}

/** Python writes the time of its own place, and no zone. */
function localTime(value: unknown): number | null {
  const text = textOf(value);
  if (text === undefined || !/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/.test(text) || /(?:Z|[+-]\d\d:?\d\d)$/.test(text)) return timeOf(value);
  const at = Date.parse(text.replace(' ', 'T').replace(/(\.\d{3})\d+$/, '$1'));
  return Number.isNaN(at) ? null : at;
}

function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * One JSON file for each session: `key` (`telegram:123456`), `messages`, `summary`, `created`, `updated`. The summary stands for messages
 * that the program has cut off. It cuts from the front, so a message is known by its content, not by its place.
 */
export function sessionJsonEvents(session: Json, fallbackId: string, hashOf: (value: unknown) => string): SourceEvent[] {
  const key = textOf(field(session, 'key')) ?? fallbackId;
  const createdAt = timeOf(field(session, 'created'));
  const updatedAt = timeOf(field(session, 'updated'));
  const summary = textOf(field(session, 'summary')) ?? '';
  const toolNames = new Map<string, string>();
  const open: string[] = [];
  const counts = new Map<string, number>();
  const records = list(field(session, 'messages')).map((message): Extract<SourceEvent, { type: 'record' }> => {
    const hash = hashOf(message);
    const count = (counts.get(hash) ?? 0) + 1;
    counts.set(hash, count);
    return {
      type: 'record',
      record: {
        id: `${hash}~${count}`,
        parent: undefined,
        at: null,
        hash,
        parts: chatMessageParts(isObject(message) ? message : {}, toolNames, open),
      },
    };
  });
  const fold = foreignCompaction(`${key}/${hashOf(summary)}`, summary, records[0]?.record.id ?? null, 0);
  return [
    { type: 'session', session: { id: key, ...(createdAt === null ? {} : { createdAt }), metadata: { sessionKey: key } } },
    ...records,
    ...(summary === ''
      ? []
      : [
          {
            type: 'record',
            record: { id: `summary~${hashOf(summary)}`, parent: undefined, at: updatedAt, hash: hashOf(summary), parts: [noted(fold)] },
          } as const,
        ]),
  ];
}
