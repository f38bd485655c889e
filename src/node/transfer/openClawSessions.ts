import type { SqlValue } from 'sql.js';
import { textOf, timeOf } from '../../core/transfer/formats/jsonShape';
import type { SessionEvent, SourceEvent } from '../../core/transfer/sourceRecord';
import type { ForeignDatabase } from './foreignDatabase';

type Row = Readonly<Record<string, SqlValue>>;

/** What OpenClaw's database says of its sessions beside their records. Which columns there are depends on its version. */
export class OpenClawSessions {
  /** The keys, by the session that each points to. */
  private readonly nodes: ReadonlyMap<string, Row>;
  /** Every session that a key has pointed to. */
  private readonly windows: ReadonlyMap<string, Row>;

  constructor(database: ForeignDatabase) {
    this.nodes = rowsBy(database, 'session_nodes', 'current_session_id', ['session_key', 'label', 'display_name', 'archived_at', 'pinned_at']);
    this.windows = rowsBy(database, 'session_windows', 'session_id', ['session_key', 'previous_session_id', 'reason', 'display_name']);
  }

  /** The event, with where the session belongs; and its name. By the `id` of the rows: the header of one that was copied may name another. */
  begin({ session }: SessionEvent, id: string): SourceEvent[] {
    const [node, window] = [this.nodes.get(id), this.windows.get(id)];
    const sessionKey = textOf(node?.['session_key']) ?? textOf(window?.['session_key']);
    const previousSession = textOf(window?.['previous_session_id']);
    const begun = textOf(window?.['reason']);
    const [archivedAt, pinnedAt] = [node?.['archived_at'], node?.['pinned_at']].map(setAt) as [number | null, number | null];
    // The label is the user's. The other OpenClaw makes from where the session takes place, and a name within the session is better than it.
    const [label, displayName] = [textOf(node?.['label']), textOf(node?.['display_name']) || textOf(window?.['display_name'])];
    return [
      {
        type: 'session',
        session: {
          ...session,
          metadata: { ...session.metadata, ...(sessionKey === undefined ? {} : { sessionKey }), ...(previousSession === undefined ? {} : { previousSession }), ...(begun === undefined ? {} : { begun }) },
          ...(archivedAt === null ? {} : { archivedAt }),
          ...(pinnedAt === null ? {} : { pinnedAt }),
        },
      },
      ...(displayName ? [{ type: 'title', title: displayName, rank: 1 } as const] : []),
      ...(label ? [{ type: 'title', title: label, rank: 3 } as const] : []),
    ];
  }
}

/** Null where it was taken back: 0 stands for that as well. */
function setAt(value: SqlValue | undefined): number | null {
  const at = timeOf(value);
  return at === 0 ? null : at;
}

/** How many have no records in the database, because OpenClaw has put them into files of another kind; it brings them back when they are opened. */
export function coldSessions(database: ForeignDatabase): number {
  if (!database.columns('session_transcript_cold_archives').has('session_id')) return 0;
  const [row] = [...database.rows('SELECT count(DISTINCT session_id) AS n FROM session_transcript_cold_archives WHERE session_id NOT IN (SELECT session_id FROM transcript_events)')];
  return Number(row?.['n'] ?? 0);
}

function rowsBy(database: ForeignDatabase, table: string, key: string, wanted: readonly string[]): ReadonlyMap<string, Row> {
  const columns = database.columns(table);
  if (!columns.has(key)) return new Map();
  const names = [key, ...wanted.filter((name) => columns.has(name))];
  return new Map([...database.rows(`SELECT ${names.join(', ')} FROM ${table} WHERE ${key} IS NOT NULL`)].map((row) => [String(row[key]), row]));
}
