import type { SqlValue } from 'sql.js';
import { textOf } from '../../../core/transfer/formats/foreignJson';
import { openClawSessions, type OpenClawSession, type OpenClawAbout } from '../../../core/transfer/openClawKeys';
import type { ForeignDatabase } from '../foreign/foreignDatabase';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

type Row = Readonly<Record<string, SqlValue>>;

/** What OpenClaw's database says of its sessions beside their records. Which columns there are depends on its version. */
export class OpenClawSessions {
  /** The keys, by the session that each points to. */
  private readonly nodes: ReadonlyMap<string, Row>;
  /** Every session that a key has pointed to. */
  private readonly windows: ReadonlyMap<string, Row>;

  /** `only`: of this session. Omitted: of all. */
  constructor(database: ForeignDatabase, only?: string) {
    this.nodes = rowsBy(
      database,
      'session_nodes',
      'current_session_id',
      ['session_key', 'label', 'display_name', 'archived_at', 'pinned_at'],
      only,
    );
    this.windows = rowsBy(
      database,
      'session_windows',
      'session_id',
      ['session_key', 'previous_session_id', 'reason', 'display_name'],
      only,
    );
  }

  /** The `id` of the rows names it: the header of a session that was copied may name another. */
  about(id: string): OpenClawAbout {
    const [node, window] = [this.nodes.get(id), this.windows.get(id)];
    const first = (...values: readonly (SqlValue | undefined)[]) => values.map(textOf).find((text) => text) ?? null;
    return {
      sessionKey: first(node?.['session_key'], window?.['session_key']),
      previousSession: first(window?.['previous_session_id']),
      begun: first(window?.['reason']),
      archivedAt: node?.['archived_at'],
      pinnedAt: node?.['pinned_at'],
      label: first(node?.['label']),
      displayName: first(node?.['display_name'], window?.['display_name']),
    };
  }
}

function rowsBy(database: ForeignDatabase, table: string, key: string, wanted: readonly string[], only?: string): ReadonlyMap<string, Row> {
  if (!database.columns(table).has(key)) return new Map();
  const rows = [...database.rows(table, [key, ...wanted], only === undefined ? {} : { equal: { [key]: only } })];
  return new Map(rows.filter((row) => row[key] !== null).map((row) => [String(row[key]), row]));
}

/** The lists of OpenClaw that lie beside transcripts, each read once. */
export class OpenClawLists {
  private readonly found = new Map<string, Promise<ReadonlyMap<string, OpenClawSession>>>();

  /** Null: no list names the transcript. Never rejects. */
  async about(file: string): Promise<OpenClawAbout | null> {
    const folder = dirname(file);
    const sessions = this.found.get(folder) ?? byFile(join(folder, 'sessions.json'));
    this.found.set(folder, sessions);
    const session = (await sessions).get(basename(file));
    return session ? aboutListed(session) : null;
  }
}

export function aboutListed({ key, label, displayName }: OpenClawSession): OpenClawAbout {
  return { sessionKey: key, previousSession: null, begun: null, archivedAt: null, pinnedAt: null, label, displayName };
}

/** Where several keys name a file, the one that was written last counts. */
async function byFile(list: string): Promise<ReadonlyMap<string, OpenClawSession>> {
  const sessions = openClawSessions(await readFile(list, 'utf8').catch(() => '')) ?? [];
  return new Map(sessions.reverse().map((session) => [session.file, session]));
}
