import type { SourceEvent } from '../sourceRecord';
import { chatMessageParts } from './chatCompletion';
import { isObject, textOf, timeOf, type Json } from './jsonShape';

type Rows = readonly { readonly row: Json; readonly hash: string }[];

/** A row of `sessions` (id, metadata) and its rows of `messages` (role, content, tool_calls, timestamp), as the Goose pattern lays them out. */
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
