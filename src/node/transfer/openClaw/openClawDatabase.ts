import { stat } from 'node:fs/promises';
import { textOf } from '../../../core/transfer/formats/foreignJson';
import type { ListedSession, OpenClawAbout } from '../../../core/transfer/openClawKeys';
import { ColdArchives } from './coldArchives';
import type { TailEvent } from '../foreign/fileTail';
import { ForeignDatabase } from '../foreign/foreignDatabase';
import { LivePages } from '../foreign/livePages';
import { OpenClawSessions } from './openClawSessions';
import type { OpenClawSource, RecordTail } from './openClawWatch';
import { eventColumns, eventText } from '../foreign/eventText';
import { UnpackBudget } from '../foreign/unpackZstd';
import { recordHash } from '../import/sessionWriter';

/**
 * A look that reads more than that is followed by a rest of four times as long as it took: where its tables have no index, all of the
 * database is read. Not by its time alone: a small database on a busy machine would be left unread as well.
 */
const muchRead = 16 * 1024 * 1024;

/**
 * The database in which OpenClaw keeps the sessions of an agent from 2026.8.1 on. Its tables belong together in ways that only OpenClaw
 * knows, so it is read as any foreign database is: nothing is written, locked or made beside it.
 */
export class OpenClawDatabase implements OpenClawSource {
  /** It stands for both files as they were before they were read last. */
  private stamp = '';
  private session: string | null = null;
  /** It is what is known of `session`. */
  private known: OpenClawAbout | null = null;
  private restsUntil = 0;
  private readonly tails = new Map<string, DatabaseTail>();
  private readonly pages: LivePages;

  constructor(
    private readonly file: string,
    private readonly key: string,
    private readonly wasmFile: string,
  ) {
    this.pages = new LivePages(file);
  }

  async look(): Promise<string | null> {
    const began = performance.now();
    const stamp = began < this.restsUntil ? this.stamp : await stampOf(this.file);
    // A database that is being replaced is looked at again the next time.
    if (stamp === null || stamp === this.stamp) return this.session;
    const isFirst = this.stamp === '';
    const found = await ForeignDatabase.glance(this.pages, this.wasmFile, (database) => {
      const session = databaseSessions(database).find(({ key }) => key === this.key)?.sessionId ?? this.session;
      const isNew = session !== null && !this.tails.has(session);
      const tails = [...this.tails.values(), ...(isNew ? [new DatabaseTail(this.file, session)] : [])];
      return {
        session,
        known: session === null ? null : new OpenClawSessions(database, session).about(session),
        tails: tails.map((tail) => ({ tail, loaded: tail.load(database) })),
      };
    });
    [this.session, this.known] = [found.session, found.known];
    for (const { tail, loaded } of found.tails) {
      tail.take(loaded);
      this.tails.set(tail.session, tail);
    }
    this.stamp = stamp;
    const took = performance.now() - began;
    // The first one reads the whole session, which no other has to.
    if (this.pages.bytesRead > muchRead && !isFirst) this.restsUntil = performance.now() + took * 4;
    return this.session;
  }

  about(sessionId: string): OpenClawAbout | null {
    return sessionId === this.session ? this.known : null;
  }

  tail(sessionId: string): RecordTail {
    const loaded = this.tails.get(sessionId);
    this.tails.clear();
    const tail = loaded?.isUntouched ? loaded : new DatabaseTail(this.file, sessionId);
    if (tail !== loaded) this.stamp = '';
    this.tails.set(sessionId, tail);
    return tail;
  }
}

/** The sessions that its keys point to, the newest first. */
export function databaseSessions(database: ForeignDatabase): ListedSession[] {
  const columns = database.columns('session_nodes');
  if (!columns.has('current_session_id')) return [];
  const updated = columns.has('updated_at') ? 'updated_at' : 'last_activity_at';
  const sessions = [...database.rows('session_nodes', ['session_key', 'current_session_id', updated, 'label', 'display_name'])].map(
    (row) => ({
      key: String(row['session_key']),
      sessionId: textOf(row['current_session_id']) ?? null,
      updatedAt: typeof row[updated] === 'number' ? row[updated] : null,
      label: textOf(row['label']) || null,
      displayName: textOf(row['display_name']) || null,
    }),
  );
  return sessions
    .flatMap((one): ListedSession[] => (one.sessionId === null ? [] : [{ ...one, sessionId: one.sessionId }]))
    .sort((a, b) => (b.updatedAt ?? -Infinity) - (a.updatedAt ?? -Infinity) || (a.key < b.key ? -1 : 1));
}

interface Seen {
  readonly seq: number;
  readonly count: number;
  /** It is the hash of the last row. */
  readonly hash: string;
  readonly generation: string;
}

interface Loaded {
  readonly isRestart: boolean;
  readonly rows: readonly TailEvent[];
  readonly seen: Seen;
}

const nothing: Seen = { seq: -1, count: 0, hash: '', generation: '' };

/** The rows of one session. They are taken out of the database when it is looked at, and wait here to be read. */
class DatabaseTail implements RecordTail {
  private waiting: TailEvent[] = [];
  private seen: Seen = nothing;
  isUntouched = true;

  constructor(
    readonly file: string,
    readonly session: string,
  ) {}

  hasNews(): Promise<boolean> {
    return Promise.resolve(this.waiting.length > 0);
  }

  async *read(signal?: AbortSignal): AsyncGenerator<TailEvent, void, void> {
    this.isUntouched = false;
    const { waiting } = this;
    this.waiting = [];
    for (const event of waiting) {
      signal?.throwIfAborted();
      yield event;
    }
  }

  /** Rows that are no longer what they were make it begin anew. Throws where a row cannot be read. Changes nothing. */
  load(database: ForeignDatabase): Loaded {
    const cold = new ColdArchives(database, this.file, this.session);
    const generation = cold.stamp || generationOf(database, this.session);
    const isRestart = this.seen.count > 0 && !this.isSame(database, generation);
    const seen = { ...(isRestart ? nothing : this.seen), generation };
    const rows: TailEvent[] = [];
    if (cold.stamp !== '') {
      // All of it, or none: an archive does not grow.
      if (seen.count === 0) for (const { texts } of cold.open()) for (const text of texts) rows.push({ type: 'line', text });
      return { isRestart, rows, seen: { ...seen, count: seen.count + rows.length } };
    }
    const budget = new UnpackBudget();
    for (const row of database.rows('transcript_events', ['seq', ...eventColumns], {
      equal: { session_id: this.session },
      above: { seq: seen.seq },
      order: ['seq'],
    })) {
      const text = eventText(row, budget);
      rows.push({ type: 'line', text });
      Object.assign(seen, { seq: Number(row['seq']), count: seen.count + 1, hash: recordHash(text) });
    }
    return { isRestart, rows, seen };
  }

  take({ isRestart, rows, seen }: Loaded): void {
    this.waiting = isRestart ? [{ type: 'restarted' }, ...rows] : [...this.waiting, ...rows];
    this.seen = seen;
  }

  private isSame(database: ForeignDatabase, generation: string): boolean {
    const { seq, count, hash } = this.seen;
    if (generation !== this.seen.generation) return false;
    if (seq === nothing.seq) return true;
    const total = database.count('transcript_events', { equal: { session_id: this.session }, upTo: { seq } });
    const [last] = [...database.rows('transcript_events', eventColumns, { equal: { session_id: this.session, seq } })];
    return total === count && last !== undefined && recordHash(eventText(last, new UnpackBudget())) === hash;
  }
}

/** Count other things of a session by the same word: questions that wait, what was put away. */
const ofOtherThings = /pending|queue|archive/;

/**
 * Whatever counts rewrites of this session (`transcript_rewrite_watermarks` in 2026.9.6): the name of the table has not been the same in
 * every version. Of one that is not known, rather a session read again in vain than a rewrite in its middle never seen.
 */
function generationOf(database: ForeignDatabase, session: string): string {
  const found: string[] = [];
  for (const table of [...database.tables()].filter((name) => !ofOtherThings.test(name)).sort()) {
    const columns = [...database.columns(table)];
    const counter = columns.find((name) => name.includes('generation'));
    const of = columns.find((name) => name === 'session_id' || name === 'current_session_id');
    if (counter === undefined || of === undefined) continue;
    const counts = [...database.rows(table, [counter], { equal: { [of]: session } })].map((row) => Number(row[counter]));
    found.push(`${table}:${counts.reduce((most, one) => Math.max(most, one), -1)}`);
  }
  return found.join();
}

async function stampOf(file: string): Promise<string | null> {
  const [main, log] = await Promise.all([stat(file).catch(() => null), stat(`${file}-wal`).catch(() => null)]);
  return main && [main.ino, main.size, main.mtimeMs, log?.ino, log?.size, log?.mtimeMs].join();
}
