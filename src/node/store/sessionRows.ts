import { StoreError } from '../../core/errors';
import type { NewSession, Session, SessionPatch } from '../../core/session/session';
import type { Connection, Row, SqlValue } from './connection';
import { packText, unpackText } from './text';

/** The `sessions` table. Writes expect to run inside a transaction. */
export class SessionRows {
  constructor(private readonly connection: Connection) {}

  find(uuid: string): Session | undefined {
    const row = this.connection.get('SELECT * FROM sessions WHERE uuid = ?', [uuid]);
    return row && decodeSession(row);
  }

  /** Throws `invalid` when there is no such session. */
  require(uuid: string): Session {
    const session = this.find(uuid);
    if (!session) throw new StoreError('invalid', `There is no session ${uuid}`);
    return session;
  }

  list(query: { readonly archived?: boolean; readonly trashed?: boolean; readonly limit?: number } = {}): Session[] {
    const conditions = [query.trashed ? 'deleted_at IS NOT NULL' : 'deleted_at IS NULL'];
    if (query.archived !== undefined) conditions.push(query.archived ? 'archived_at IS NOT NULL' : 'archived_at IS NULL');
    const sql = `SELECT * FROM sessions WHERE ${conditions.join(' AND ')} ORDER BY updated_at DESC, rowid DESC LIMIT ?`;
    return this.connection.all(sql, [query.limit ?? -1]).map(decodeSession);
  }

  /** The session with this uuid or key, created when neither is there. */
  getOrCreate(session: NewSession): Session {
    const known = this.connection.get('SELECT * FROM sessions WHERE uuid = ? OR key = ?', [session.uuid, session.key ?? '']);
    if (known) return decodeSession(known);
    const id = this.nextId(session.createdAt);
    this.connection.run(
      `INSERT INTO sessions(uuid, id, key, title, cwd, created_at, updated_at, last_opened_at, model, policy_json)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        session.uuid,
        id,
        session.key ?? `${session.channel}:${id}`,
        packText(session.title ?? ''),
        session.cwd ?? null,
        session.createdAt,
        session.createdAt,
        session.createdAt,
        session.model ?? null,
        session.policy === undefined ? null : JSON.stringify(session.policy),
      ],
    );
    return this.require(session.uuid);
  }

  /** Changes what the patch names. `updatedAt` is left alone: it says when something was last said. */
  update(uuid: string, patch: SessionPatch): Session {
    this.require(uuid);
    const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
    for (const [property, value] of changes) {
      const column = patchColumns[property as keyof SessionPatch];
      if (column === undefined) throw new StoreError('invalid', `A session's ${property} cannot be changed`);
      this.connection.run(`UPDATE sessions SET ${column} = ? WHERE uuid = ?`, [encodePatch(property, value), uuid]);
    }
    return this.require(uuid);
  }

  setLeaf(uuid: string, leaf: string | null): void {
    this.connection.run('UPDATE sessions SET leaf_entry = ? WHERE uuid = ?', [leaf, uuid]);
  }

  /** `YYYYMMDD_NNN` of the local day. The counter only grows, so that the id of a deleted session never comes back. */
  private nextId(createdAt: number): string {
    const date = new Date(createdAt);
    const two = (n: number) => String(n).padStart(2, '0');
    const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
    const highest = this.connection.get(
      `SELECT max(coalesce((SELECT last FROM id_counters WHERE day = ?), 0),
                  coalesce((SELECT max(CAST(substr(id, 10) AS INTEGER)) FROM sessions WHERE id >= ? AND id < ?), 0)) AS highest`,
      [day, `${day}_`, `${day}\``],
    );
    const last = Number(highest?.['highest'] ?? 0) + 1;
    this.connection.run('INSERT OR REPLACE INTO id_counters(day, last) VALUES (?, ?)', [day, last]);
    return `${day}_${String(last).padStart(3, '0')}`;
  }
}

const patchColumns: Readonly<Record<keyof SessionPatch, string>> = {
  title: 'title',
  model: 'model',
  thinkingLevel: 'thinking_level',
  policy: 'policy_json',
  metadata: 'metadata',
  costLimit: 'cost_limit',
  lastOpenedAt: 'last_opened_at',
  pinnedAt: 'pinned_at',
  archivedAt: 'archived_at',
  deletedAt: 'deleted_at',
};

function encodePatch(property: string, value: unknown): SqlValue {
  if (property === 'title') return packText(String(value));
  if (property === 'policy') return value === null ? null : JSON.stringify(value);
  if (property === 'metadata') return JSON.stringify(value);
  return value as SqlValue;
}

function decodeSession(row: Row): Session {
  const number = (column: string) => (row[column] === null ? null : Number(row[column]));
  const text = (column: string) => (row[column] === null ? null : String(row[column]));
  return {
    uuid: String(row['uuid']),
    id: String(row['id']),
    key: String(row['key']),
    title: unpackText(row['title']),
    cwd: text('cwd'),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    lastOpenedAt: Number(row['last_opened_at']),
    pinnedAt: number('pinned_at'),
    archivedAt: number('archived_at'),
    deletedAt: number('deleted_at'),
    parentSession: text('parent_session'),
    forkEntry: text('fork_entry'),
    leaf: text('leaf_entry'),
    model: text('model'),
    thinkingLevel: text('thinking_level'),
    policy: parseJson(row['policy_json'], null),
    metadata: parseJson(row['metadata'], {}) as Readonly<Record<string, unknown>>,
    costLimit: number('cost_limit'),
    totalTokens: Number(row['total_tokens']),
    messageCount: Number(row['message_count']),
  };
}

/** Metadata may have been edited with another SQLite tool; a value that does not parse must not hide the session. */
function parseJson(value: SqlValue | undefined, fallback: unknown): unknown {
  if (typeof value !== 'string') return fallback;
  try {
    return JSON.parse(value);
  } catch {
    return fallback;
  }
}
