import { goclawEvents } from '../../../core/transfer/formats/goclaw';
import { parseForeign, tooDeep, timeOf } from '../../../core/transfer/formats/foreignJson';
import { PiReader } from '../../../core/transfer/formats/pi';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { withAbout } from '../../../core/transfer/openClawKeys';
import { databaseKinds, hashed, type DatabaseKind, type KindName } from './databaseKinds';
import { eventColumns, eventText } from './eventText';
import type { ColdArchives } from '../openClaw/coldArchives';
import type { ForeignDatabase } from './foreignDatabase';
import type { ImportContext } from '../import/importStore';
import { OpenClawSessions } from '../openClaw/openClawSessions';
import { recordHash } from '../import/sessionWriter';
import { UnpackBudget } from './unpackZstd';

export type DatabaseFormat = KindName | 'goclaw';

/** Its tables tell; null for a database of another kind. */
export function databaseFormat(database: ForeignDatabase): DatabaseFormat | null {
  const tables = database.tables();
  if (tables.has('transcript_events')) return 'openclaw';
  if (tables.has('session_entries') && tables.has('sessions')) return 'librecode';
  if (tables.has('session') && tables.has('message') && tables.has('part'))
    return [...tables].some((name) => name.startsWith('kilo_')) ? 'kilo' : 'opencode';
  if (tables.has('threads') && database.columns('threads').has('data_type')) return 'zed';
  if (tables.has('cursorDiskKV')) return 'cursor';
  if (!tables.has('messages')) return null;
  const columns = database.columns('messages');
  if (columns.has('session_key') && columns.has('tool_result')) return 'goclaw';
  if (!tables.has('sessions')) return null;
  if (columns.has('content_json')) return 'goose';
  return columns.has('session_id') && columns.has('role') && columns.has('content') ? 'emonk' : null;
}

/** Every event of every session in it, and in the archives that it names. `onUnread` is told why a session could not be read. */
export function* readSqlite(
  database: ForeignDatabase,
  format: DatabaseFormat,
  context: ImportContext,
  cold: ColdArchives | null,
  onUnread: (error: unknown) => void,
): Generator<SourceEvent, void, void> {
  if (format === 'openclaw') return yield* openclaw(database, context, cold, onUnread);
  if (format === 'goclaw') return yield* goclaw(database, context, onUnread);
  const kind: DatabaseKind = databaseKinds[format];
  const ids = kind.ids(database);
  for (const [i, id] of ids.entries()) {
    context.signal?.throwIfAborted();
    let events: readonly SourceEvent[] = [];
    try {
      events = kind.events(database, id);
    } catch (error) {
      context.signal?.throwIfAborted();
      onUnread(error);
    }
    yield* events;
    context.onProgress?.(i + 1, ids.length);
  }
}

/** Only the messages have to be there, of its three tables. */
function* goclaw(
  database: ForeignDatabase,
  context: ImportContext,
  onUnread: (error: unknown) => void,
): Generator<SourceEvent, void, void> {
  const tables = (['messages', 'compactions', 'checkpoints'] as const).filter((table) => database.tables().has(table));
  // A conversation may have a compaction and no message any more.
  const keysOf = (table: string) =>
    [...database.rows(table, ['session_key'], { order: ['timestamp', 'rowid'] })].map((row) => row['session_key'] ?? null);
  const keys = [...new Set(tables.flatMap(keysOf))];
  for (const [i, key] of keys.entries()) {
    context.signal?.throwIfAborted();
    let events: readonly SourceEvent[] = [];
    try {
      const rows = tables.flatMap((table) =>
        hashed(database.rows(table, 'all', { equal: { session_key: key }, order: ['timestamp', 'rowid'] })).map((one) => ({
          table,
          ...one,
        })),
      );
      // A sort is stable: what happened at one time stays in the order of the tables.
      events = goclawEvents(
        String(key),
        rows.sort((a, b) => (timeOf(a.row['timestamp']) ?? 0) - (timeOf(b.row['timestamp']) ?? 0)),
      );
    } catch (error) {
      context.signal?.throwIfAborted();
      onUnread(error);
    }
    yield* events;
    context.onProgress?.(i + 1, keys.length);
  }
}

/** Rows are the lines of the older session files; newer ones may be compressed. Their order is that of `seq`. Then what `cold` holds. */
function* openclaw(
  database: ForeignDatabase,
  { signal, onProgress }: ImportContext,
  cold: ColdArchives | null,
  onUnread: (error: unknown) => void,
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
  // A session is handed on when all of it has been read: of one with a damaged row nothing is imported.
  let events: SourceEvent[] = [];
  let session: string | null = null;
  let isDamaged = false;
  try {
    for (const row of database.rows('transcript_events', ['session_id', ...eventColumns], { order: ['session_id', 'seq'] })) {
      const id = String(row['session_id']);
      if (id !== session) {
        yield* events;
        [session, events, isDamaged] = [id, [], false];
      }
      if (isDamaged) continue;
      try {
        events.push(...read(id, eventText(row, budget)));
      } catch (error) {
        signal?.throwIfAborted();
        [events, isDamaged] = [[], true];
        onUnread(error);
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    events = [];
    onUnread(error);
  }
  yield* events;
  for (const { session, texts } of cold?.open() ?? []) for (const text of texts) yield* read(session, text);
}
