import type { SqlValue } from 'sql.js';
import { textOf, timeOf } from '../../core/transfer/formats/jsonShape';
import type { SourceEvent } from '../../core/transfer/sourceRecord';
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

  /** The event, with where the session belongs; and its name, when the user has given it one. */
  begin({ session }: Extract<SourceEvent, { type: 'session' }>): SourceEvent[] {
    const [node, window] = [this.nodes.get(session.id), this.windows.get(session.id)];
    const sessionKey = textOf(node?.['session_key']) ?? textOf(window?.['session_key']);
    const previousSession = textOf(window?.['previous_session_id']);
    const begun = textOf(window?.['reason']);
    const [archivedAt, pinnedAt] = [timeOf(node?.['archived_at']), timeOf(node?.['pinned_at'])];
    const title = this.nameOf(session.id);
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
      ...(title === null ? [] : [{ type: 'title', title, rank: 3 } as const]),
    ];
  }

  nameOf(session: string): string | null {
    const [node, window] = [this.nodes.get(session), this.windows.get(session)];
    return [node?.['label'], node?.['display_name'], window?.['display_name']].map(textOf).find((name) => name !== undefined && name.trim() !== '') ?? null;
  }
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
