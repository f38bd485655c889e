import { createHash } from 'node:crypto';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import {
  hasFixedKey,
  isSessionKey,
  isSaneTime,
  type NewSession,
  type Session,
  type SessionPatch,
  type SessionQuery,
  type SessionSort,
} from '../../../core/session/session';
import type { SessionRecord } from '../../../core/session/storage';
import { packText, unpackText, type Connection, type Row, type SqlValue } from '../database/connection';
import type { Operations } from '../client/storeCalls';

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
    if (!session) throw new StoreError('invalid', english('There is no session {0}', uuid));
    return session;
  }

  list(query: SessionQuery = {}): Session[] {
    const conditions = [query.trashed ? 'deleted_at IS NOT NULL' : 'deleted_at IS NULL'];
    const parameters: SqlValue[] = [];
    const where = (condition: string, ...values: SqlValue[]) => {
      conditions.push(condition);
      parameters.push(...values);
    };
    if (query.archived !== undefined) where(query.archived ? 'archived_at IS NOT NULL' : 'archived_at IS NULL');
    if (query.pinned !== undefined) where(query.pinned ? 'pinned_at IS NOT NULL' : 'pinned_at IS NULL');
    if (query.parent !== undefined) where('parent_session = ?', query.parent);
    if (query.tag !== undefined)
      where(ofMetadata("EXISTS (SELECT 1 FROM json_each(metadata, '$.tags') WHERE type = 'text' AND value = ?)"), query.tag);
    for (const [key, value] of Object.entries(query.metadata ?? {})) {
      const types = typeof value === 'boolean' ? `'${value}'` : typeof value === 'number' ? "'integer', 'real'" : "'text'";
      where(
        ofMetadata(`EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ? AND type IN (${types}) AND atom = ?)`),
        key,
        typeof value === 'string' ? value : Number(value),
      );
    }
    // `;` comes after `:`: all keys that begin so.
    if (query.program !== undefined) where('key >= ? AND key < ?', `import:${query.program}:`, `import:${query.program};`);
    if (query.key !== undefined) where('key = ?', query.key);
    const hasAliases = query.alias !== undefined || query.text !== undefined ? this.hasAliases() : false;
    if (query.alias !== undefined && !hasAliases) return [];
    if (query.alias !== undefined) where('uuid IN (SELECT session FROM session_aliases WHERE alias = ?)', query.alias);
    const sort = query.sort ?? 'updated';
    const sql = `SELECT * FROM sessions WHERE ${conditions.join(' AND ')} ORDER BY ${orders[sort]} updated_at DESC, rowid DESC`;
    const wanted = query.text === undefined ? null : folded(query.text);
    const found: Session[] = [];
    const limit = query.limit ?? Infinity;
    const aliases = hasAliases && wanted !== null ? this.connection.all('SELECT alias, session FROM session_aliases') : [];
    const aliased = new Set(aliases.flatMap(({ alias, session }) => (String(alias).includes(wanted!) ? [session] : [])));
    for (const row of this.connection.iterate(sql, parameters)) {
      if (found.length >= limit && sort !== 'title') break;
      // SQLite's LIKE knows upper and lower case of ASCII only.
      if (
        wanted === null ||
        String(row['id']).includes(wanted) ||
        folded(unpackText(row['title'])).includes(wanted) ||
        aliased.has(row['uuid'])
      )
        found.push(decodeSession(row));
    }
    return sort === 'title' ? byTitle(found).slice(0, limit) : found;
  }

  /** A session is found under this id or key too, which it has on another device. */
  addAlias(session: string, alias: string): void {
    this.connection.run('INSERT OR IGNORE INTO session_aliases(alias, session) VALUES (?, ?)', [alias, session]);
  }

  /** Stores of earlier versions, which a reader leaves as they are, have none. */
  private hasAliases(): boolean {
    return this.connection.get("SELECT 1 FROM sqlite_master WHERE name = 'session_aliases'") !== undefined;
  }

  count(): number {
    return Number(this.connection.get('SELECT count(*) AS n FROM sessions WHERE deleted_at IS NULL')?.['n']);
  }

  /** The session with this uuid or key, created when neither is there. */
  getOrCreate(session: NewSession): Session {
    const known = this.known(session);
    if (known) return decodeSession(known);
    const id = this.nextId(session.createdAt);
    this.connection.run(
      `INSERT INTO sessions(uuid, id, key, title, cwd, created_at, updated_at, last_opened_at, model, policy_json, metadata)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
        JSON.stringify(session.metadata ?? {}),
      ],
    );
    return this.require(session.uuid);
  }

  /** The session by its uuid or key, or a new one that begins at `entry` of `parent`. */
  getOrFork(session: NewSession, parent: Session, entry: string): { session: Session; created: boolean } {
    if (this.known(session)) return { session: this.getOrCreate(session), created: false };
    const { uuid } = this.getOrCreate({
      ...session,
      title: session.title ?? this.forkTitle(parent),
      cwd: session.cwd === undefined ? parent.cwd : session.cwd,
      model: session.model === undefined ? parent.model : session.model,
      policy: session.policy ?? parent.policy ?? undefined,
    });
    this.connection.run(
      'UPDATE sessions SET parent_session = ?, fork_entry = ?, leaf_entry = ?, thinking_level = ?, cost_limit = ? WHERE uuid = ?',
      [parent.uuid, entry, entry, parent.thinkingLevel, parent.costLimit, uuid],
    );
    return { session: this.require(uuid), created: true };
  }

  /**
   * The uuid itself, or the one that comes after it where its session was deleted for good in a history of several devices: of that one
   * none of them takes anything any more. Every device comes to the same. It sorts lower: a device that hears of the new session first
   * takes the entries from the deleted one for it, and loses none with that (`isOlder` in core/sync/merge.ts).
   */
  uuidAfterPurge(uuid: string): string {
    if (!this.connection.get('SELECT 1 FROM sync_purged WHERE session = ?', [uuid])) return uuid;
    const [, b, c, d, e] = /^(.{4})(.{3})(.{3})(.{12})/.exec(createHash('sha256').update(`after ${uuid}`).digest('hex'))!;
    const lower = Math.max(0, (Number.parseInt(uuid.slice(0, 8), 16) || 0) - 1);
    return this.uuidAfterPurge(`${lower.toString(16).padStart(8, '0')}-${b}-8${c}-8${d}-${e}`);
  }

  /** The session by its uuid, or a new one with everything of `record` but an id or a key that another has here. */
  restore(record: SessionRecord): { session: Session; created: boolean } {
    const known = this.find(record.uuid);
    if (known) return { session: known, created: false };
    const isTaken = (column: 'id' | 'key', value: string) =>
      this.connection.get(`SELECT 1 FROM sessions WHERE ${column} = ?`, [value]) !== undefined;
    const [, day, number] = /^(\d{8})_(\d{3,9})$/.exec(record.id) ?? [];
    const id = day === undefined || isTaken('id', record.id) ? this.nextId(record.createdAt) : record.id;
    if (day !== undefined && id === record.id) {
      this.connection.run(
        'INSERT INTO id_counters(day, last) VALUES (?, ?) ON CONFLICT(day) DO UPDATE SET last = max(last, excluded.last)',
        [day, Number(number)],
      );
    }
    this.connection.run(
      `INSERT INTO sessions(uuid, id, key, title, cwd, created_at, updated_at, last_opened_at, pinned_at, archived_at, deleted_at,
         parent_session, fork_entry, model, thinking_level, policy_json, metadata, cost_limit)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        record.uuid,
        id,
        isTaken('key', record.key) ? `import:threadkeeper:${record.uuid}` : record.key,
        packText(record.title),
        record.cwd,
        record.createdAt,
        record.updatedAt,
        record.lastOpenedAt,
        record.pinnedAt,
        record.archivedAt,
        record.deletedAt,
        record.parentSession,
        record.forkEntry,
        record.model,
        record.thinkingLevel,
        record.policy === null || record.policy === undefined ? null : JSON.stringify(record.policy),
        JSON.stringify(record.metadata),
        record.costLimit,
      ],
    );
    return { session: this.require(record.uuid), created: true };
  }

  /** `Title (fork)`, then `Title (fork 2)`; a fork of a fork counts on under the same title. */
  private forkTitle({ title }: Session): string {
    if (title === '') return '';
    const base = title.replace(/ \(fork(?: \d+)?\)$/, '');
    const taken = new Set(this.connection.all('SELECT title FROM sessions').map((row) => unpackText(row['title'])));
    for (let i = 1; ; i++) {
      const candidate = i === 1 ? `${base} (fork)` : `${base} (fork ${i})`;
      if (!taken.has(candidate)) return candidate;
    }
  }

  private known(session: NewSession): Row | undefined {
    return this.connection.get('SELECT * FROM sessions WHERE uuid = ? OR key = ?', [session.uuid, session.key ?? '']);
  }

  /** Changes what the patch names. `updatedAt` is left alone: it says when something was last said. */
  update(uuid: string, patch: SessionPatch): Session {
    const session = this.require(uuid);
    const { metadata } = session;
    if (patch.key !== undefined && patch.key !== session.key) this.checkKey(session, patch.key);
    const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
    for (const [property, value] of changes) {
      const column = patchColumns[property as keyof SessionPatch];
      if (column === undefined) throw new StoreError('invalid', english("A session's {0} cannot be changed", property));
      this.connection.run(`UPDATE sessions SET ${column} = ? WHERE uuid = ?`, [
        encodePatch(property, property === 'metadata' ? merged(metadata, patch.metadata) : value),
        uuid,
      ]);
    }
    return this.require(uuid);
  }

  private checkKey(session: Session, key: string): void {
    if (!isSessionKey(key))
      throw new StoreError('invalid', english('"{0}" is no key of a session: a key is channel:chat, for example telegram:123456', key));
    if (hasFixedKey(session))
      throw new StoreError(
        'invalid',
        english('The key of this session cannot be changed: by it the program that it comes from is followed'),
      );
    const other = this.connection.get('SELECT id FROM sessions WHERE key = ?', [key]);
    if (other) throw new StoreError('invalid', english('The session {0} has the key {1}', String(other['id']), key));
  }

  /** As another device has it, where it is free here; else it is an alias. */
  takeKey(uuid: string, key: string): void {
    const other = this.connection.get('SELECT uuid FROM sessions WHERE key = ?', [key]);
    if (!isSessionKey(key) || other?.['uuid'] === uuid) return;
    if (other) return this.addAlias(uuid, key);
    this.connection.run('UPDATE sessions SET key = ? WHERE uuid = ?', [key, uuid]);
  }

  setLeaf(uuid: string, leaf: string | null): void {
    this.connection.run('UPDATE sessions SET leaf_entry = ? WHERE uuid = ?', [leaf, uuid]);
  }

  /** `YYYYMMDD_NNN` of the local day. The counter only grows, so that the id of a deleted session never comes back. */
  private nextId(createdAt: number): string {
    const date = new Date(isSaneTime(createdAt) ? createdAt : Date.now());
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

/** A title may be packed, and SQLite orders letters of ASCII only: those are sorted here. */
const orders: Readonly<Record<SessionSort, string>> = {
  updated: '',
  created: 'created_at DESC,',
  title: '',
  tokens: 'total_tokens DESC,',
  cost: '(SELECT coalesce(sum(cost), 0) FROM usage WHERE usage.session = sessions.uuid) DESC,',
};

/** Sessions without a title come last. */
function byTitle(sessions: readonly Session[]): Session[] {
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return [...sessions].sort((a, b) => Number(a.title === '') - Number(b.title === '') || compare(a.title, b.title));
}

const patchColumns: Readonly<Record<keyof SessionPatch, string>> = {
  key: 'key',
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

function merged(metadata: Session['metadata'], patch: SessionPatch['metadata']): Session['metadata'] {
  return Object.fromEntries(
    Object.entries({ ...metadata, ...patch }).filter(([key, value]) => value !== null || patch?.[key] === undefined),
  );
}

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

/** Metadata that another SQLite tool has broken matches nothing and fails nothing. */
function ofMetadata(condition: string): string {
  return `CASE WHEN json_valid(metadata) THEN ${condition} ELSE 0 END`;
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
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

export const sessionOperations = {
  createSession: {
    run: ({ connection, sessions }, session) => connection.transaction(() => sessions.getOrCreate(session)),
    tells: ({ uuid }) => ({ kind: 'session', session: uuid }),
  },
  session: ({ sessions }, uuid) => sessions.find(uuid),
  listSessions: ({ sessions }, query) => sessions.list(query),
  countSessions: ({ sessions }) => sessions.count(),
  updateSession: {
    run: ({ connection, sessions }, uuid, patch) => connection.transaction(() => sessions.update(uuid, patch)),
    tells: (_, session) => ({ kind: 'session', session }),
  },
  restoreSession: {
    run: ({ connection, sessions }, { uuid, parentSession, ...record }) =>
      connection.transaction(() =>
        sessions.restore({
          ...record,
          uuid: sessions.uuidAfterPurge(uuid),
          parentSession: parentSession === null ? null : sessions.uuidAfterPurge(parentSession),
        }),
      ),
    tells: ({ session }) => ({ kind: 'session', session: session.uuid }),
  },
} satisfies Partial<Operations<{ readonly connection: Connection; readonly sessions: SessionRows }>>;
