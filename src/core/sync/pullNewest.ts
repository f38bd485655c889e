import { CancelledError } from '../errors';
import type { Change } from './change';
import { openAll, type PullDeps, type Problem } from './pullLogs';
import type { SealedRecord, SessionKey } from './sealedRecord';
import type { EngineHead, LogRange, SyncEngine } from './syncEngine';
import type { ReceivedRow } from './syncReplica';

/** A shorter history comes whole in the same time: a record has up to 256 KB of text. */
const fewestRows = 60;
/**
 * Rows that are asked for at once, at the end of a log, where texts are, and at its beginning, where sessions are; and how often each is
 * asked.
 */
const steps = { end: 10, beginning: 50 };
const mostSteps = 40;
/** Sealed bytes that are read at the beginnings for the sake of a name. */
const mostBytes = 4 * 1024 * 1024;

/**
 * Merges the session in which something was said last before the logs come from their beginning, so that a new device is of use early: the
 * ends of the logs are read backwards until that session is there whole, and their beginnings, where a store that existed before tells its
 * sessions, until it has a name. The rows are merged ahead of their places, by their own seals, and come once more in order. Returns how
 * many rows were merged; 0 where the history is short or the session too long.
 */
export async function pullNewest(deps: PullDeps, heads: readonly EngineHead[]): Promise<number> {
  if (heads.reduce((sum, { next }) => sum + next, 0) < fewestRows) return 0;
  const reader = new Reader(deps);
  const logs = heads.map(({ device, next }) => ({ device, start: 0, end: next }));
  // A session that is young is begun in the record before its first entries.
  for (let asked = 0, more = 1; asked < mostSteps && !reader.isWhole && (!reader.hasEntries || more-- > 0); asked++) {
    if (deps.signal?.aborted) throw new CancelledError();
    for (const log of logs) {
      const from = Math.max(log.start, log.end - steps.end);
      if (from < log.end) await reader.read({ device: log.device, from, to: log.end });
      log.end = from;
    }
  }
  let bytes = 0;
  for (const log of logs) {
    for (let asked = 0; asked < mostSteps && !reader.isWhole && log.start < log.end; asked++) {
      const to = Math.min(log.end, log.start + steps.beginning);
      bytes += await reader.read({ device: log.device, from: log.start, to });
      log.start = to;
      if (bytes > mostBytes) break;
    }
  }
  return reader.merge();
}

class Reader {
  private readonly rows: { readonly row: SealedRecord; readonly change: Change }[] = [];
  private readonly keys: SessionKey[] = [];
  private readonly begun = new Set<string>();
  private readonly named = new Set<string>();
  private readonly parents = new Map<string, { readonly parent: string | null; readonly session: string }>();
  private newest: { readonly session: string; readonly at: number } | null = null;

  constructor(private readonly deps: PullDeps) {}

  /** Returns how many sealed bytes that were. */
  async read(range: LogRange): Promise<number> {
    const found = await pullWhole(this.deps.engine, range);
    const problems: Problem[] = [];
    const { opened, keys } = await openAll(this.deps, found, problems);
    this.keys.push(...keys);
    for (const [position, row] of found.entries()) {
      const one = opened[position]!;
      // Whatever is wrong with a row is named when it comes in its place.
      if (one.kind !== 'change' || row.device !== range.device) continue;
      this.take(row, one.change);
    }
    return found.reduce((sum, { sealed }) => sum + sealed.length, 0);
  }

  /** The session of the newest entry can be shown as it is. */
  get isWhole(): boolean {
    const session = this.newest?.session;
    if (session === undefined || !this.begun.has(session) || !this.named.has(session)) return false;
    return this.hasEntries;
  }

  /** Every entry of it that is there has all before it, whether or not it is known how the session is called. */
  get hasEntries(): boolean {
    const session = this.newest?.session;
    const rooted = this.rooted(() => true);
    return session !== undefined && [...this.parents].every(([uuid, entry]) => entry.session !== session || rooted.has(uuid));
  }

  async merge(): Promise<number> {
    const { newest } = this;
    const rooted = this.rooted();
    const known = newest && this.begun.has(newest.session) ? this.rows.filter(({ change }) => this.stands(change, rooted)) : [];
    const merged: ReceivedRow[] = known.map((one) => ({ ...one, early: true }));
    const order = (change: Change | null) => (change?.kind === 'session' ? 0 : change?.kind === 'entries' ? 1 : 2);
    const inOrder = merged.sort((a, b) => order(a.change) - order(b.change) || a.row.index - b.row.index);
    // The sealer knows them from now on, so that nothing that comes later brings them once more.
    if (inOrder.length > 0 || this.keys.length > 0) await this.deps.replica.receive(inOrder, this.keys);
    return inOrder.length;
  }

  /** Nothing of it would have to wait. */
  private stands(change: Change, rooted: ReadonlySet<string>): boolean {
    if (change.kind === 'session') return true;
    if (!this.begun.has(change.session)) return false;
    if (change.kind === 'entries') return change.entries.every(({ uuid }) => rooted.has(uuid));
    return change.kind === 'registers' || change.session === this.newest?.session;
  }

  private take(row: SealedRecord, change: Change): void {
    this.rows.push({ row, change });
    if (change.kind === 'session') this.begun.add(change.session);
    if (change.kind === 'registers' && change.values.some(({ name }) => name === 'title')) this.named.add(change.session);
    if (change.kind !== 'entries') return;
    for (const { uuid, parent, createdAt } of change.entries) {
      this.parents.set(uuid, { parent, session: change.session });
      if (createdAt > (this.newest?.at ?? -1)) this.newest = { session: change.session, at: createdAt };
    }
  }

  /** Entries that are there with all before them, up to the first, and with the sessions that those belong to. */
  private rooted(isThere = (session: string) => this.begun.has(session)): ReadonlySet<string> {
    const rooted = new Set<string>();
    const loose = new Set<string>();
    for (const uuid of this.parents.keys()) {
      const path: string[] = [];
      let at: string | null = uuid;
      while (at !== null && !rooted.has(at) && !loose.has(at)) {
        const entry = this.parents.get(at);
        if (!entry || !isThere(entry.session)) break;
        path.push(at);
        at = entry.parent;
      }
      const known = at === null || rooted.has(at) ? rooted : loose;
      for (const one of path) known.add(one);
    }
    return rooted;
  }
}

async function pullWhole(engine: SyncEngine, { device, from, to }: LogRange): Promise<readonly SealedRecord[]> {
  const rows: SealedRecord[] = [];
  for (let at = from; at < to; ) {
    const answer = await engine.pull({ device, from: at, to });
    const last = answer.at(-1);
    if (!last || last.index < at) break;
    rows.push(...answer);
    at = last.index + 1;
  }
  return rows;
}
