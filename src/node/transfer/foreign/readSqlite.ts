import { emonkEvents } from '../../../core/transfer/formats/chatCompletion';
import { goclawEvents } from '../../../core/transfer/formats/goclaw';
import { gooseEvents } from '../../../core/transfer/formats/goose';
import { parseForeign, tooDeep, timeOf } from '../../../core/transfer/formats/foreignJson';
import type { Json } from '../../../core/base/json';
import { librecodeEvents } from '../../../core/transfer/formats/librecode';
import { PiReader } from '../../../core/transfer/formats/pi';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { withAbout } from '../../../core/transfer/openClawKeys';
import type { ColdArchives } from '../openClaw/coldArchives';
import type { ForeignDatabase } from './foreignDatabase';
import type { ImportContext } from '../import/importStore';
import { OpenClawSessions } from '../openClaw/openClawSessions';
import { recordHash } from '../import/sessionWriter';
import { UnpackBudget, unpackZstd } from './unpackZstd';

export type DatabaseFormat = 'openclaw' | 'goose' | 'librecode' | 'goclaw' | 'emonk';

/** Its tables tell; null for a database of another kind. */
export function databaseFormat(database: ForeignDatabase): DatabaseFormat | null {
  const tables = database.tables();
  if (tables.has('transcript_events')) return 'openclaw';
  if (tables.has('session_entries') && tables.has('sessions')) return 'librecode';
  if (!tables.has('messages')) return null;
  const columns = database.columns('messages');
  if (columns.has('session_key') && columns.has('tool_result')) return 'goclaw';
  if (!tables.has('sessions')) return null;
  if (columns.has('content_json')) return 'goose';
  return columns.has('session_id') && columns.has('role') && columns.has('content') ? 'emonk' : null;
}

/** Every event of every session in it, and in the archives that it names. */
export function* readSqlite(
  database: ForeignDatabase,
  format: DatabaseFormat,
  context: ImportContext,
  cold: ColdArchives | null = null,
): Generator<SourceEvent, void, void> {
  if (format === 'openclaw') return yield* openclaw(database, context, cold);
  if (format === 'goclaw') return yield* goclaw(database, context);
  const sessions = [...database.rows('sessions', 'all', { order: ['created_at', 'id'] })];
  for (const [i, session] of sessions.entries()) {
    context.signal?.throwIfAborted();
    const id = session['id'] ?? null;
    const of = (table: string, key: string, order: readonly string[]) =>
      hashed(database.rows(table, 'all', { equal: { [key]: id }, order }));
    if (format === 'goose') yield* gooseEvents(plain(session), of('messages', 'session_id', ['created_timestamp', 'id']));
    else if (format === 'emonk') yield* emonkEvents(plain(session), of('messages', 'session_id', ['id']));
    else yield* librecodeEvents(plain(session), of('session_entries', 'session_id', ['created_at', 'rowid']));
    context.onProgress?.(i + 1, sessions.length);
  }
}

/** Only the messages have to be there, of its three tables. */
function* goclaw(database: ForeignDatabase, context: ImportContext): Generator<SourceEvent, void, void> {
  const tables = (['messages', 'compactions', 'checkpoints'] as const).filter((table) => database.tables().has(table));
  // A conversation may have a compaction and no message any more.
  const keysOf = (table: string) =>
    [...database.rows(table, ['session_key'], { order: ['timestamp', 'rowid'] })].map((row) => row['session_key'] ?? null);
  const keys = [...new Set(tables.flatMap(keysOf))];
  for (const [i, key] of keys.entries()) {
    context.signal?.throwIfAborted();
    const rows = tables.flatMap((table) =>
      hashed(database.rows(table, 'all', { equal: { session_key: key }, order: ['timestamp', 'rowid'] })).map((one) => ({ table, ...one })),
    );
    // A sort is stable: what happened at one time stays in the order of the tables.
    yield* goclawEvents(
      String(key),
      rows.sort((a, b) => (timeOf(a.row['timestamp']) ?? 0) - (timeOf(b.row['timestamp']) ?? 0)),
    );
    context.onProgress?.(i + 1, keys.length);
  }
}

/** Rows are the lines of the older session files; newer ones may be compressed. Their order is that of `seq`. Then what `cold` holds. */
function* openclaw(
  database: ForeignDatabase,
  { signal, onProgress }: ImportContext,
  cold: ColdArchives | null,
): Generator<SourceEvent, void, void> {
  const about = new OpenClawSessions(database);
  const budget = new UnpackBudget();
  const total = database.count('transcript_events') + (cold?.records ?? 0);
  let reader = new PiReader();
  let current: string | null = null;
  let line = 0;
  let done = 0;
  const read = (id: string, text: string): SourceEvent[] => {
    signal?.throwIfAborted();
    if (id !== current) [reader, current, line] = [new PiReader(), id, 0];
    const parsed = parseForeign(text);
    onProgress?.(++done, Math.max(done, total));
    const events = reader
      .read(parsed ? parsed.value : text, line++, recordHash(text), id)
      .flatMap((event) => (event.type === 'session' ? withAbout(event, about.about(id)) : event));
    return parsed && parsed.cut > 0 ? [...events, { type: 'repaired', kind: tooDeep() }] : events;
  };
  for (const row of database.rows('transcript_events', ['session_id', ...eventColumns], { order: ['session_id', 'seq'] })) {
    yield* read(String(row['session_id']), eventText(row, budget));
  }
  for (const { session, texts } of cold?.open() ?? []) for (const text of texts) yield* read(session, text);
}

/** OpenClaw's rows have these: from 2026.9.6 on they may be compressed. */
export const eventColumns: readonly string[] = ['event_json', 'event_zstd'];

/**
 * What is too large to be decompressed is said to be there, as a record of a kind of its own. Throws what is damaged: rather no import
 * than one with holes.
 */
export function eventText({ event_json: json, event_zstd: compressed }: Json, budget: UnpackBudget): string {
  if (typeof json === 'string') return json;
  if (!(compressed instanceof Uint8Array)) return '';
  const bytes = unpackZstd(compressed, budget);
  return bytes
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
    : JSON.stringify({ type: 'too_large', compressedBytes: compressed.length });
}

function hashed(rows: Iterable<Json>): { readonly row: Json; readonly hash: string }[] {
  return [...rows].map((row) => ({ row: plain(row), hash: recordHash(JSON.stringify(row)) }));
}

/** Blobs are kept as base64: an entry is JSON. */
function plain(row: Json): Json {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value]),
  );
}
