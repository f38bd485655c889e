import type { SqlValue } from 'sql.js';
import { isObject, type Json } from '../../../core/base/json';
import { english } from '../../../core/l10n';
import { emonkEvents } from '../../../core/transfer/formats/chatCompletion';
import { cursorEvents } from '../../../core/transfer/formats/cursor';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';
import { gooseEvents } from '../../../core/transfer/formats/goose';
import { librecodeEvents } from '../../../core/transfer/formats/librecode';
import { PiReader } from '../../../core/transfer/formats/pi';
import { withAbout } from '../../../core/transfer/openClawKeys';
import { opencodeEvents } from '../../../core/transfer/formats/opencode';
import { zedEvents } from '../../../core/transfer/formats/zed';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { recordHash } from '../import/sessionWriter';
import { eventText } from './eventText';
import { OpenClawSessions } from '../openClaw/openClawSessions';
import type { ForeignDatabase } from './foreignDatabase';
import { UnpackBudget, unpackZstd } from './unpackZstd';

/** How the sessions of a database are found, and read one at a time. */
export interface DatabaseKind {
  /** In the order of their beginning. */
  ids(database: ForeignDatabase): string[];
  events(database: ForeignDatabase, id: string): SourceEvent[];
  /** Omitted: what is not there has no events. */
  exists?(database: ForeignDatabase, id: string): boolean;
  /** Where a session was, without reading it; null: that is not known, undefined: it has to be read. */
  folder?(database: ForeignDatabase, id: string): string | null | undefined;
  /** Rows that come with what is said: a table, and what names the session in it. */
  readonly appended?: { readonly table: string; readonly session: string; readonly idOf?: (value: string) => string | null };
  /** A row for each session, with what changes when something of it does. */
  readonly stamped?: { readonly table: string; readonly id: string; readonly columns: readonly string[] };
  /** A second one: `stamped` where a program counts events apart. */
  readonly counted?: { readonly table: string; readonly id: string; readonly columns: readonly string[] };
}

export const databaseKinds = {
  goose: {
    ids: (database) => idsOf(database, 'sessions', ['created_at', 'id']),
    exists: (database, id) => isIn(database, 'sessions', id),
    folder: (database, id) => folderIn(database, 'sessions', 'working_dir', id),
    events: (database, id) =>
      gooseEvents(sessionOf(database, 'sessions', id), messagesOf(database, id, ['created_timestamp', 'id']), hashOf),
    appended: { table: 'messages', session: 'session_id' },
    stamped: { table: 'sessions', id: 'id', columns: ['updated_at', 'description', 'name'] },
  },
  emonk: {
    ids: (database) => idsOf(database, 'sessions', ['created_at', 'id']),
    events: (database, id) => emonkEvents(sessionOf(database, 'sessions', id), messagesOf(database, id, ['id'])),
    appended: { table: 'messages', session: 'session_id' },
    stamped: { table: 'sessions', id: 'id', columns: ['updated_at'] },
  },
  librecode: {
    ids: (database) => idsOf(database, 'sessions', ['created_at', 'id']),
    exists: (database, id) => isIn(database, 'sessions', id),
    folder: (database, id) => folderIn(database, 'sessions', 'cwd', id),
    events: (database, id) =>
      librecodeEvents(
        sessionOf(database, 'sessions', id),
        hashed(database.rows('session_entries', 'all', { equal: { session_id: id }, order: ['created_at', 'rowid'] })),
      ),
    appended: { table: 'session_entries', session: 'session_id' },
    stamped: { table: 'sessions', id: 'id', columns: ['updated_at', 'name'] },
  },
  opencode: opencode(),
  kilo: opencode(),
  zed: {
    ids: (database) => idsOf(database, 'threads', ['updated_at', 'id']),
    exists: (database, id) => isIn(database, 'threads', id),
    folder: (database, id) => folderIn(database, 'threads', 'folder_paths', id)?.split('\n')[0] ?? null,
    events: (database, id) => {
      const row = sessionOf(database, 'threads', id, 'all');
      return zedEvents(row, zedText(row['data']), hashOf);
    },
    stamped: { table: 'threads', id: 'id', columns: ['updated_at'] },
  },
  openclaw: {
    ids: (database) => [...new Set([...database.rows('transcript_events', ['session_id'])].map((row) => String(row['session_id'])))],
    events: (database, id) => {
      const [reader, about, budget] = [new PiReader(), new OpenClawSessions(database, id).about(id), new UnpackBudget()];
      const rows = [...database.rows('transcript_events', ['event_json', 'event_zstd'], { equal: { session_id: id }, order: ['seq'] })];
      return rows.flatMap((row, line) => {
        const text = eventText(row, budget);
        return reader
          .read(parseForeign(text)?.value ?? text, line, recordHash(text), id)
          .flatMap((event) => (event.type === 'session' ? withAbout(event, about) : event));
      });
    },
    appended: { table: 'transcript_events', session: 'session_id' },
  },
  cursor: {
    ids: (database) =>
      [
        ...database.rows('cursorDiskKV', ['key'], { from: { key: composerPrefix }, below: { key: after(composerPrefix) }, order: ['key'] }),
      ].map((row) => String(row['key']).slice(composerPrefix.length)),
    events: (database, id) => {
      const composer = valueOf(database, composerPrefix + id);
      if (!composer) return [];
      const header = database.columns('composerHeaders').has('composerId')
        ? [...database.rows('composerHeaders', 'all', { equal: { composerId: id }, limit: 1 })].map(headerOf)[0]
        : undefined;
      return cursorEvents(id, { ...header, ...composer }, (bubble) => valueOf(database, `bubbleId:${id}:${bubble}`), hashOf);
    },
    appended: { table: 'cursorDiskKV', session: 'key', idOf: (key) => /^(?:composerData|bubbleId):([^:]+)/.exec(key)?.[1] ?? null },
  },
} satisfies Readonly<Record<string, DatabaseKind>>;

export type KindName = keyof typeof databaseKinds;

function opencode(): DatabaseKind {
  return {
    ids: (database) => idsOf(database, 'session', ['time_created', 'id']),
    exists: (database, id) => isIn(database, 'session', id),
    folder: (database, id) => folderIn(database, 'session', 'directory', id),
    events: (database, id) =>
      opencodeEvents(
        sessionOf(database, 'session', id, ['id', 'parent_id', 'directory', 'title', 'time_created', 'time_archived']),
        [...database.rows('message', ['id', 'data'], { equal: { session_id: id }, order: ['id'] })],
        [...database.rows('part', ['id', 'message_id', 'data'], { equal: { session_id: id }, order: ['id'] })],
        hashOf,
      ),
    stamped: { table: 'session', id: 'id', columns: ['time_updated', 'title'] },
    // Rows are written over: what counts the events of a session says so.
    counted: { table: 'event_sequence', id: 'aggregate_id', columns: ['seq'] },
  };
}

function isIn(database: ForeignDatabase, table: string, id: string): boolean {
  return database.count(table, { equal: { id } }) > 0;
}

function folderIn(database: ForeignDatabase, table: string, column: string, id: string): string | null {
  const [row] = [...database.rows(table, [column], { equal: { id }, limit: 1 })];
  const value = row?.[column];
  return typeof value === 'string' && value !== '' ? value : null;
}

const composerPrefix = 'composerData:';

/** The first text behind all that begin with this one. */
function after(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

function valueOf(database: ForeignDatabase, key: string): Json | null {
  const [row] = [...database.rows('cursorDiskKV', ['value'], { equal: { key }, limit: 1 })];
  const value = row?.['value'];
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : typeof value === 'string' ? value : '';
  const parsed = parseForeign(text)?.value;
  return isObject(parsed) ? parsed : null;
}

/** Its columns may be JSON themselves. */
function headerOf(row: Json): Json {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && value.startsWith('{') ? parseForeign(value)?.value : value,
    ]),
  );
}

function idsOf(database: ForeignDatabase, table: string, order: readonly string[]): string[] {
  const there = database.columns(table);
  const ordered = order.filter((name) => there.has(name));
  return [...database.rows(table, ['id'], { order: ordered })].map((row) => String(row['id']));
}

function sessionOf(database: ForeignDatabase, table: string, id: string, wanted: readonly string[] | 'all' = 'all'): Json {
  const [row] = [...database.rows(table, wanted, { equal: { id }, limit: 1 })];
  if (!row) throw new Error(english('The session {0} is not in the database any more.', id));
  return table === 'threads' ? row : plain(row);
}

function messagesOf(database: ForeignDatabase, id: string, order: readonly string[]) {
  return hashed(database.rows('messages', 'all', { equal: { session_id: id }, order }));
}

function zedText(data: unknown): string {
  if (typeof data === 'string') return data;
  if (!(data instanceof Uint8Array)) return '{}';
  // Not every row is compressed, whatever it says.
  const bytes = data[0] === 0x7b ? data : unpackZstd(data, new UnpackBudget());
  if (!bytes) throw new Error(english('A thread is too large to be unpacked.'));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

export function hashed(rows: Iterable<Json>): { readonly row: Json; readonly hash: string }[] {
  return [...rows].map((row) => ({ row: plain(row), hash: recordHash(JSON.stringify(row)) }));
}

function hashOf(value: unknown): string {
  return recordHash(JSON.stringify(value) ?? '');
}

/** Blobs are kept as base64: an entry is JSON. */
function plain(row: Json): Json {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value]),
  );
}

/** What a look has seen, to be compared with the next one. */
export interface DatabaseMark {
  readonly rowid: number;
  readonly stamps: ReadonlyMap<string, string>;
}

/** The sessions in which something may have changed since `mark`; null: all of them. Changes nothing. */
export function changedSessions(
  database: ForeignDatabase,
  kind: DatabaseKind,
  mark: DatabaseMark | null,
): { readonly ids: readonly string[]; readonly mark: DatabaseMark } {
  const stamps = new Map<string, string>();
  for (const one of [kind.stamped, kind.counted]) {
    if (!one || !database.columns(one.table).has(one.id)) continue;
    for (const row of database.rows(one.table, [one.id, ...one.columns])) {
      const id = String(row[one.id]);
      stamps.set(id, `${stamps.get(id) ?? ''}|${one.columns.map((name) => String(row[name])).join('|')}`);
    }
  }
  const { appended } = kind;
  const rowid = appended && database.columns(appended.table).has(appended.session) ? newestRow(database, appended.table) : -1;
  const next = { rowid, stamps };
  // Rows that have gone: a vacuum, or another file.
  if (!mark || rowid < mark.rowid) return { ids: kind.ids(database), mark: next };
  const ids = new Set([...stamps].filter(([id, stamp]) => mark.stamps.get(id) !== stamp).map(([id]) => id));
  if (appended && rowid > mark.rowid) {
    for (const row of database.rows(appended.table, [appended.session], { above: { rowid: mark.rowid } })) {
      const value = String(row[appended.session]);
      const id = appended.idOf ? appended.idOf(value) : value;
      if (id !== null) ids.add(id);
    }
  }
  return { ids: [...ids], mark: next };
}

function newestRow(database: ForeignDatabase, table: string): number {
  const [row] = [...database.rows(table, [], { order: ['rowid desc'], limit: 1, withRowid: true })];
  const value: SqlValue | undefined = row?.['rowid'];
  return typeof value === 'number' ? value : -1;
}
