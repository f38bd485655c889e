import { kept, noted, said, unreadable, type RecordPart, type SourceEvent } from '../sourceRecord';
import { foreignCompaction } from './messageBlocks';
import type { Json } from '../../base/json';
import { numberOf, textOf, timeOf } from './foreignJson';

/** A row of one of the three tables, which make one conversation by their times. */
export interface GoclawRow {
  readonly table: 'messages' | 'compactions' | 'checkpoints';
  readonly row: Json;
  readonly hash: string;
}

/** The rows of one `session_key`, in the order of their times. */
export function goclawEvents(key: string, rows: readonly GoclawRow[]): SourceEvent[] {
  let before = '';
  const open: string[] = [];
  const events: SourceEvent[] = [];
  for (const { table, row, hash } of rows) {
    const id = `${table}/${String(row['id'])}`;
    const call = row['role'] === 'tool_use' ? id : row['role'] === 'tool_result' ? (open.shift() ?? '') : '';
    if (row['role'] === 'tool_use') open.push(id);
    events.push({
      type: 'record',
      record: {
        id,
        parent: undefined,
        at: timeOf(row['timestamp']),
        hash,
        parts: table === 'messages' ? message(row, call) : table === 'compactions' ? compaction(row, key) : checkpoint(row, before),
      },
    });
    if (table === 'messages') before = id;
  }
  const createdAt = timeOf(rows[0]?.row['timestamp']);
  return [
    { type: 'session', session: { id: key, ...(createdAt === null ? {} : { createdAt }), metadata: { sessionKey: key } } },
    ...events,
  ];
}

/** Nothing ties a result to its call: results come in the order of the calls. */
function message(row: Json, call: string): RecordPart[] {
  const text = textOf(row['content']) ?? '';
  const role = row['role'];
  const name = textOf(row['tool_name']) ?? 'tool';
  if (role === 'user' || role === 'assistant') return [said({ type: 'message', role, text })];
  if (role === 'tool_use')
    return [
      ...(text === '' ? [] : [said({ type: 'message', role: 'assistant', text })]),
      said({ type: 'tool_call', callId: call, name, input: inputOf(row['tool_input']) }),
    ];
  if (role === 'tool_result' && call !== '')
    return [
      said({
        type: 'tool_result',
        callId: call,
        name,
        text: textOf(row['tool_result']) ?? text,
        status: row['tool_is_error'] === 1 ? 'error' : 'ok',
      }),
    ];
  return [kept(unreadable(`role:${String(role)}`, row))];
}

function compaction(row: Json, key: string): RecordPart[] {
  const first = textOf(row['first_kept_entry_id']) || null;
  return [
    noted(
      foreignCompaction(
        `${key}/${String(row['id'])}`,
        textOf(row['summary']) ?? '',
        first === null ? null : `messages/${first}`,
        numberOf(row['tokens_before']),
      ),
    ),
  ];
}

function checkpoint(row: Json, before: string): RecordPart[] {
  const { topics, key_decisions: decisions, open_questions: questions } = row;
  return [
    noted({
      type: 'checkpoint',
      summary: textOf(row['summary']) ?? '',
      topics: listOf(topics),
      keyDecisions: listOf(decisions),
      openQuestions: listOf(questions),
      tokensAtCheckpoint: numberOf(row['tokens_at_checkpoint']),
      messagesAtCheckpoint: 0,
      coversThrough: before,
    }),
  ];
}

/** A list as JSON, or its items on lines of their own. */
function listOf(value: unknown): string[] {
  const text = textOf(value) ?? '';
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return parsed.filter((one): one is string => typeof one === 'string');
  } catch {
    // No JSON.
  }
  return text.split('\n').filter((line) => line.trim() !== '');
}

/** Blobs come as base64. */
function inputOf(value: unknown): unknown {
  const text = textOf(value) ?? '';
  for (const candidate of [text, new TextDecoder().decode(bytesOf(text))]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch {
      // The other one, maybe.
    }
  }
  return text === '' ? {} : text;
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
