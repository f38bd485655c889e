import type { SearchQuery } from '../../core/ports';
import type { StoredEntry } from '../../core/session/entry';
import type { Connection } from './connection';
import type { EntryRows } from './entryRows';
import { roleOf } from './searchRole';
import type { SessionRows } from './sessionRows';

/** A broken row must not loop. */
const maxAncestors = 32;

/** Which entries a search may answer with. Throws `invalid` when its session does not exist. */
export class SearchScope {
  /** Session → highest `seq` that counts; null: every session but the trashed ones. */
  private readonly lineage: ReadonlyMap<string, number> | null;
  private readonly seqs: ReadonlySet<number> | null;
  private readonly trashed: ReadonlySet<string>;

  constructor(
    connection: Connection,
    sessions: SessionRows,
    entries: EntryRows,
    private readonly query: SearchQuery,
  ) {
    this.lineage = query.session === undefined ? null : lineageOf(query.session, sessions, entries);
    this.trashed = new Set(sessions.list({ trashed: true }).map(({ uuid }) => uuid));
    this.seqs = this.lineage && seqsOf(connection, this.lineage);
  }

  /** False only for entries of other sessions; cheaper than reading them. */
  mayContain(seq: number): boolean {
    return this.seqs?.has(seq) ?? true;
  }

  /** In its sessions: what matches and what gives context to it. */
  contains({ session, seq }: StoredEntry): boolean {
    return this.lineage ? seq <= (this.lineage.get(session) ?? 0) : !this.trashed.has(session);
  }

  matches(entry: StoredEntry): boolean {
    const { from, to, role } = this.query;
    if (!this.contains(entry) || (from !== undefined && entry.createdAt < from) || (to !== undefined && entry.createdAt > to)) return false;
    return role === undefined || roleOf(entry.content) === role;
  }
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

function seqsOf(connection: Connection, lineage: ReadonlyMap<string, number>): Set<number> {
  const seqs = new Set<number>();
  for (const [session, last] of lineage) {
    for (const row of connection.iterate('SELECT seq FROM entries WHERE session = ? AND seq <= ?', [session, last])) seqs.add(Number(row['seq']));
  }
  return seqs;
}
