import { gooseEvents } from '../../core/transfer/formats/goose';
import { parseForeign, tooDeep } from '../../core/transfer/formats/foreignJson';
import type { Json } from '../../core/transfer/formats/jsonShape';
import { librecodeEvents } from '../../core/transfer/formats/librecode';
import { PiReader } from '../../core/transfer/formats/pi';
import type { SourceEvent } from '../../core/transfer/sourceRecord';
import { withAbout } from '../../core/transfer/openClawAbout';
import type { ColdArchives } from './coldArchives';
import type { ForeignDatabase } from './foreignDatabase';
import type { ImportContext } from './importContext';
import { OpenClawSessions } from './openClawSessions';
import { recordHash } from './sessionWriter';
import { UnpackBudget, unpackZstd } from './unpackZstd';

export type DatabaseFormat = 'openclaw' | 'goose' | 'librecode';

/** By its tables; null for a database of another kind. */
export function databaseFormat(database: ForeignDatabase): DatabaseFormat | null {
  const tables = database.tables();
  if (tables.has('transcript_events')) return 'openclaw';
  if (tables.has('session_entries') && tables.has('sessions')) return 'librecode';
  return tables.has('messages') && tables.has('sessions') && database.columns('messages').has('content_json') ? 'goose' : null;
}

/** Every event of every session in it, and in the archives that it names. */
export function* readSqlite(database: ForeignDatabase, format: DatabaseFormat, context: ImportContext, cold: ColdArchives | null = null): Generator<SourceEvent, void, void> {
  if (format === 'openclaw') return yield* openclaw(database, context, cold);
  const sessions = [...database.rows('sessions', 'all', { order: ['created_at', 'id'] })];
  for (const [i, session] of sessions.entries()) {
    context.signal?.throwIfAborted();
    const id = session['id'] ?? null;
    if (format === 'goose') yield* gooseEvents(plain(session), hashed(database.rows('messages', 'all', { equal: { session_id: id }, order: ['created_timestamp', 'id'] })));
    else yield* librecodeEvents(plain(session), hashed(database.rows('session_entries', 'all', { equal: { session_id: id }, order: ['created_at', 'rowid'] })));
    context.onProgress?.(i + 1, sessions.length);
  }
}

/** Rows are the lines of the older session files; newer ones may be compressed. Their order is that of `seq`. Then what `cold` holds. */
function* openclaw(database: ForeignDatabase, { signal, onProgress }: ImportContext, cold: ColdArchives | null): Generator<SourceEvent, void, void> {
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
    const events = reader.read(parsed ? parsed.value : text, line++, recordHash(text), id).flatMap((event) => (event.type === 'session' ? withAbout(event, about.about(id)) : event));
    return parsed && parsed.cut > 0 ? [...events, { type: 'repaired', kind: tooDeep() }] : events;
  };
  for (const row of database.rows('transcript_events', ['session_id', ...eventColumns], { order: ['session_id', 'seq'] })) {
    yield* read(String(row['session_id']), eventText(row, budget));
  }
  for (const { session, texts } of cold?.open() ?? []) for (const text of texts) yield* read(session, text);
}

/** Of the rows of OpenClaw: from 2026.9.6 on they may be compressed. */
export const eventColumns: readonly string[] = ['event_json', 'event_zstd'];

/**
 * What is too large to be decompressed is said to be there, as a record of a kind of its own. Throws what is damaged: rather no import
 * than one with holes.
 */
export function eventText({ event_json: json, event_zstd: compressed }: Json, budget: UnpackBudget): string {
  if (typeof json === 'string') return json;
  if (!(compressed instanceof Uint8Array)) return '';
  const bytes = unpackZstd(compressed, budget);
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : JSON.stringify({ type: 'too_large', compressedBytes: compressed.length });
}

function hashed(rows: Iterable<Json>): { readonly row: Json; readonly hash: string }[] {
  return [...rows].map((row) => ({ row: plain(row), hash: recordHash(JSON.stringify(row)) }));
}

/** Blobs are kept as base64: an entry is JSON. */
function plain(row: Json): Json {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value]));
}
