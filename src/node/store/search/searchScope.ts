import type { SearchQuery, SearchHit } from '../../../core/session/searchQuery';
import type { StoredEntry, EntryContent } from '../../../core/session/entry';
import type { Session } from '../../../core/session/session';
import type { Connection, SqlValue } from '../database/connection';
import type { EntryRows } from '../rows/entryRows';
import type { SessionRows } from '../rows/sessionRows';

/** A broken row must not loop. */
const maxAncestors = 32;

export interface SqlCondition {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/** Tells which entries a search may answer with. Throws `invalid` when its session does not exist. */
export class SearchScope {
  /** Session → highest `seq` that counts; null: every session but the trashed ones. */
  private readonly lineage: ReadonlyMap<string, number> | null;
  private readonly trashed: ReadonlySet<string>;
  /** Entries of trashed sessions that another session shares, by `seq`, and that session. */
  private readonly shared: ReadonlyMap<number, string>;
  /** These sessions have the tag and metadata asked for; null when nothing is asked. */
  private readonly tagged: ReadonlySet<string> | null;

  constructor(
    connection: Connection,
    sessions: SessionRows,
    entries: EntryRows,
    private readonly query: SearchQuery,
  ) {
    const { session, tag, metadata } = query;
    this.lineage = session === undefined ? null : lineageOf(session, sessions, entries);
    this.trashed = new Set(this.lineage ? [] : sessions.list({ trashed: true }).map(({ uuid }) => uuid));
    this.shared = this.trashed.size === 0 ? new Map() : sharedWith(sessions.list(), this.trashed, sessions, connection);
    const isAsked = tag !== undefined || metadata !== undefined;
    const conditions = { ...(tag === undefined ? {} : { tag }), ...(metadata === undefined ? {} : { metadata }) };
    this.tagged = isAsked
      ? new Set([...sessions.list(conditions), ...sessions.list({ ...conditions, trashed: true })].map(({ uuid }) => uuid))
      : null;
  }

  /**
   * `contains` for SQL, over `passages p`; null when that is every entry. Sessions without the tags that are asked for are left
   * out, too.
   */
  get within(): SqlCondition | null {
    const conditions: string[] = [];
    const parameters: SqlValue[] = [];
    const where = (condition: string, ...values: SqlValue[]) => {
      conditions.push(condition);
      parameters.push(...values);
    };
    if (this.lineage) {
      const parts = [...this.lineage].map(() => `(p.session = ${numberOf} AND p.entry <= ?)`);
      where(`(${parts.join(' OR ')})`, ...[...this.lineage].flat());
    } else if (this.trashed.size > 0) {
      where(
        `(p.session NOT IN ${numbers} OR p.entry IN ${listed})`,
        JSON.stringify([...this.trashed]),
        JSON.stringify([...this.shared.keys()]),
      );
    }
    if (this.tagged) where(`p.session IN ${numbers}`, JSON.stringify([...this.tagged]));
    return conditions.length === 0 ? null : { sql: conditions.join(' AND '), parameters };
  }

  /** What `matches` asks beyond that, for SQL over `entries e`; null when that is nothing. */
  get matching(): SqlCondition | null {
    const { from, to, role, model } = this.query;
    const conditions: string[] = [];
    const parameters: SqlValue[] = [];
    const where = (condition: string, ...values: SqlValue[]) => {
      conditions.push(condition);
      parameters.push(...values);
    };
    if (from !== undefined) where('e.created_at >= ?', from);
    if (to !== undefined) where('e.created_at <= ?', to);
    if (role !== undefined)
      where(
        role === 'tool' ? "e.entry_type IN ('tool_call', 'tool_result')" : "(e.entry_type = 'message' AND e.role = ?)",
        ...(role === 'tool' ? [] : [role]),
      );
    if (model !== undefined) where("(e.model = ? OR e.provider || '/' || e.model = ?)", model, model);
    return conditions.length === 0 ? null : { sql: conditions.join(' AND '), parameters };
  }

  /** Tells whether an entry is in its sessions: what matches is, and what gives context to it. */
  contains({ session, seq }: StoredEntry): boolean {
    return this.lineage ? seq <= (this.lineage.get(session) ?? 0) : !this.trashed.has(session) || this.shared.has(seq);
  }

  matches(entry: StoredEntry): boolean {
    const { from, to, role, model } = this.query;
    if (!this.contains(entry) || (from !== undefined && entry.createdAt < from) || (to !== undefined && entry.createdAt > to)) return false;
    if (this.tagged?.has(entry.session) === false) return false;
    return (role === undefined || roleOf(entry.content) === role) && (model === undefined || isFrom(model, entry));
  }

  /** Where an entry is shown: not in the trash. */
  sessionOf({ session, seq }: StoredEntry): string {
    return this.shared.get(seq) ?? session;
  }
}

const listed = '(SELECT value FROM json_each(?))';
/** The index numbers the sessions. */
const numberOf = '(SELECT number FROM passage_sessions WHERE session = ?)';
const numbers = `(SELECT number FROM passage_sessions WHERE session IN ${listed})`;

function isFrom(wanted: string, { content }: StoredEntry): boolean {
  if (!('model' in content) || typeof content.model !== 'string') return false;
  return content.model === wanted || ('provider' in content && `${content.provider}/${content.model}` === wanted);
}

/** The session and, up to where each was forked, those it comes from. */
function lineageOf(uuid: string, sessions: SessionRows, entries: EntryRows): Map<string, number> {
  let session = sessions.require(uuid);
  const lineage = new Map([[uuid, Number.MAX_SAFE_INTEGER]]);
  for (let i = 0; i < maxAncestors && session.parentSession && session.forkEntry; i++) {
    const fork = entries.find(session.forkEntry);
    const parent = sessions.find(session.parentSession);
    if (!fork || !parent || lineage.has(parent.uuid)) break;
    lineage.set(parent.uuid, fork.seq);
    session = parent;
  }
  return lineage;
}

/** Returns entries of trashed sessions: those on the branches that sessions which are not in the trash were forked from. */
function sharedWith(
  live: readonly Session[],
  trashed: ReadonlySet<string>,
  sessions: SessionRows,
  connection: Connection,
): Map<number, string> {
  const shared = new Map<number, string>();
  for (const { uuid, forkEntry, parentSession } of live) {
    if (forkEntry === null || !comesFrom(parentSession, trashed, sessions)) continue;
    for (const row of connection.iterate(ancestors, [forkEntry])) {
      const seq = Number(row['seq']);
      if (trashed.has(String(row['session'])) && !shared.has(seq)) shared.set(seq, uuid);
    }
  }
  return shared;
}

function comesFrom(parent: string | null, trashed: ReadonlySet<string>, sessions: SessionRows): boolean {
  for (let i = 0, uuid = parent; i < maxAncestors && uuid !== null; i++) {
    if (trashed.has(uuid)) return true;
    uuid = sessions.find(uuid)?.parentSession ?? null;
  }
  return false;
}

const ancestors = `WITH RECURSIVE branch(uuid) AS (
    SELECT ? UNION ALL SELECT e.parent FROM branch JOIN entries e ON e.uuid = branch.uuid WHERE e.parent IS NOT NULL
  )
  SELECT e.seq, e.session FROM branch CROSS JOIN entries e ON e.uuid = branch.uuid`;

export function roleOf(content: EntryContent): SearchHit['role'] {
  if (content.type === 'message') return content.role;
  return content.type === 'tool_call' || content.type === 'tool_result' ? 'tool' : 'note';
}
