import type { BlobFiles } from './blobFiles';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { PurgePreview } from '../../../core/maintenance/reports';
import { markTypes } from '../../../core/session/entry';
import type { Connection, Row } from '../database/connection';
import type { SearchIndex } from '../search/searchIndex';
import type { VectorRows } from '../search/vectorRows';
import { keepNumber } from './entryRows';
import { type TreeNode, TreeRows } from './treeRows';
import type { Operations } from '../client/storeCalls';

/** `meta`: files that a purge which has been committed still has to remove. */
const leftoversKey = 'purge_files';

/** Bytes in a row that takes free pages; SQLite's limit is 1 GB. */
const zerosAtOnce = 64 * 1024 * 1024;

/**
 * Deletes sessions for good, with the entries that no other session reaches. What belongs to a session alone (draft, queue, pins,
 * streamed text) goes with it. What it has cost stays in the ledger, for the sums by day and model, under no session's name.
 * Other sessions stay as they are: see planPurge for what is shared.
 */
export class Purge {
  constructor(
    private readonly connection: Connection,
    private readonly blobs: BlobFiles,
    private readonly index: SearchIndex,
    private readonly vectors: VectorRows,
  ) {}

  preview(sessions: readonly string[]): PurgePreview {
    return this.sums(planPurge(this.connection, sessions));
  }

  /** One transaction, then the files. Sessions that are not there count as purged. Throws `invalid` for one that is not in the trash. */
  run(sessions: readonly string[]): PurgePreview {
    const done = this.overwritingFreed(() =>
      this.connection.transaction(() => {
        const plan = planPurge(this.connection, sessions);
        for (const session of plan.sessions) {
          const row = this.connection.get('SELECT deleted_at, id FROM sessions WHERE uuid = ?', [session]);
          if (row?.['deleted_at'] === null) throw new StoreError('invalid', english('Session {0} is not in the trash', String(row['id'])));
        }
        const sums = this.sums(plan);
        if (plan.sessions.length > 0) {
          this.overwriteFree();
          this.take(plan);
        }
        return sums;
      }),
    );
    this.removeLeftovers();
    return done;
  }

  /** In a transaction of the caller's within `overwritingFreed`, in the trash or not. Files go with `removeLeftovers`. */
  takeNow(session: string): void {
    const plan = planPurge(this.connection, [session]);
    if (plan.sessions.length === 0) return;
    this.overwriteFree();
    this.take(plan);
  }

  /**
   * Removes what an interrupted purge has left to remove. A file that somebody needs again by now stays. Never throws: the next open tries
   * again.
   */
  removeLeftovers(): void {
    try {
      const hashes = this.leftovers();
      if (hashes.length === 0) return;
      const needed = neededBlobs(this.connection);
      for (const name of this.namedInLongMarks()) needed.add(name);
      const files = hashes.filter((hash) => !needed.has(hash));
      const left = files.filter((hash) => !this.blobs.remove(hash));
      this.connection.transaction(() => {
        for (const hash of files) this.connection.run('DELETE FROM blobs WHERE hash = ?', [hash]);
        this.saveLeftovers(left);
      });
    } catch {
      // What was purged is gone from the database all the same.
    }
  }

  /** A deleted text must not be readable in the file, nor in its log. */
  overwritingFreed<T>(work: () => T): T {
    this.connection.exec('PRAGMA secure_delete = ON');
    try {
      const result = work();
      try {
        this.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } catch {
        // The next checkpoint takes it out of the log; the purge itself is done.
      }
      return result;
    } finally {
      this.connection.exec('PRAGMA secure_delete = FAST');
    }
  }

  /**
   * What was streamed, drafted or merged in the index was freed before `secure_delete` was on, and may have been part of what goes
   * now. Writes each free page once: not VACUUM, which would write all the others too and hold them in memory.
   */
  private overwriteFree(): void {
    const number = (pragma: string) => Number(this.connection.get(`PRAGMA ${pragma}`)?.[pragma] ?? 0);
    // One page more than there are: those that only list free pages are used last.
    let left = (number('freelist_count') + 1) * number('page_size');
    this.connection.exec('CREATE TABLE overwritten(zeros)');
    for (; left > 0; left -= zerosAtOnce)
      this.connection.run('INSERT INTO overwritten VALUES (zeroblob(?))', [Math.min(left, zerosAtOnce)]);
    this.connection.exec('DROP TABLE overwritten');
  }

  private leftovers(): string[] {
    const stored = this.connection.get('SELECT value FROM meta WHERE key = ?', [leftoversKey]);
    return stored ? (JSON.parse(String(stored['value'])) as string[]) : [];
  }

  private saveLeftovers(hashes: readonly string[]): void {
    if (hashes.length === 0) this.connection.run('DELETE FROM meta WHERE key = ?', [leftoversKey]);
    else this.connection.run('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)', [leftoversKey, JSON.stringify(hashes)]);
  }

  private sums(plan: PurgePlan): PurgePreview {
    let bytes = 0;
    for (const hash of this.files(plan))
      bytes += Number(this.connection.get('SELECT bytes FROM blobs WHERE hash = ?', [hash])?.['bytes'] ?? 0);
    for (const { seq } of plan.gone) {
      const row = this.connection.get(
        `SELECT length(CAST(b.content_json AS BLOB)) + coalesce(length(CAST(b.text AS BLOB)), 0) + coalesce(length(CAST(e.tool_args_json AS BLOB)), 0) AS bytes
         FROM entries e JOIN bodies b ON b.entry = e.seq WHERE e.seq = ?`,
        [seq],
      );
      bytes += Number(row?.['bytes'] ?? 0);
    }
    return { sessions: plan.sessions, entries: plan.gone.length, keptEntries: plan.heirs.size, bytes };
  }

  /** Hashes of the files that only what goes needs. */
  private files({ sessions, gone }: PurgePlan): string[] {
    const rows: Row[] = [];
    for (const { seq } of gone) rows.push(...this.connection.all('SELECT content_json, blob_hash FROM bodies WHERE entry = ?', [seq]));
    for (const session of sessions) {
      for (const table of ['drafts', 'queue'])
        rows.push(...this.connection.all(`SELECT attachments_json FROM ${table} WHERE session = ?`, [session]));
    }
    const names = blobNames(rows);
    if (names.size === 0) return [];
    const numbers = new Set(gone.map(({ seq }) => seq));
    const others = this.connection.all(
      `SELECT entry, content_json, blob_hash FROM bodies WHERE blob_hash IS NOT NULL OR content_json LIKE '%"hash"%' OR content_json LIKE '{"type":"damaged"%'`,
    );
    const needed = blobNames(others.filter((row) => !numbers.has(Number(row['entry']))));
    for (const name of this.namedInLongMarks(numbers)) needed.add(name);
    for (const table of ['drafts', 'queue']) {
      const kept = this.connection
        .all(`SELECT session, attachments_json FROM ${table}`)
        .filter((row) => !sessions.includes(String(row['session'])));
      for (const name of blobNames(kept)) needed.add(name);
    }
    return [...names].filter((name) => !needed.has(name));
  }

  /** A mark of changes to very many files stands in a file of its own, and its row has only the ends of it. */
  private namedInLongMarks(gone: ReadonlySet<number> = new Set()): Set<string> {
    const names = new Set<string>();
    const marks = this.connection.all(
      "SELECT b.entry AS entry, b.blob_hash AS hash FROM entries e CROSS JOIN bodies b ON b.entry = e.seq WHERE e.entry_type = 'file_changes' AND b.blob_hash IS NOT NULL",
    );
    for (const { entry, hash } of marks) {
      const bytes = gone.has(Number(entry)) ? undefined : this.blobs.readOrThrow(String(hash));
      if (!bytes) continue;
      for (const [name] of Buffer.from(bytes)
        .toString('utf8')
        .matchAll(/\b[0-9a-f]{64}\b/g))
        names.add(name);
    }
    return names;
  }

  private take(plan: PurgePlan): void {
    const { connection } = this;
    const files = this.files(plan);
    this.vectors.purge(plan.gone.map(({ seq }) => seq));
    connection.run("INSERT INTO meta(key, value) VALUES ('purging', 1)");
    for (const [uuid, heir] of plan.heirs) connection.run('UPDATE entries SET session = ? WHERE uuid = ?', [heir, uuid]);
    for (const { seq, uuid } of plan.gone) {
      for (const table of ['bodies', 'compactions', 'checkpoints']) connection.run(`DELETE FROM ${table} WHERE entry = ?`, [seq]);
      connection.run('DELETE FROM memory_writes WHERE entry = ?', [uuid]);
      connection.run('DELETE FROM retry_queue WHERE compaction = ?', [uuid]);
      connection.run('DELETE FROM entries WHERE seq = ?', [seq]);
    }
    for (const session of plan.sessions) {
      connection.run("UPDATE usage SET session = '' WHERE session = ?", [session]);
      for (const table of ['drafts', 'queue', 'pins', 'partials', 'session_aliases'])
        connection.run(`DELETE FROM ${table} WHERE session = ?`, [session]);
      connection.run('DELETE FROM sessions WHERE uuid = ?', [session]);
    }
    connection.run("DELETE FROM meta WHERE key = 'purging'");
    this.relink(plan);
    keepNumber(connection, plan.gone[0]?.seq ?? 0);
    // The index has passages of what is gone, and those of what is handed on under a session that is no more.
    if (plan.first <= this.index.indexedThrough) this.index.reset();
    this.saveLeftovers([...new Set([...this.leftovers(), ...files])]);
  }

  /** Sums of those who got entries; where those begin that were forked from what is gone. */
  private relink({ sessions, heirs }: PurgePlan): void {
    for (const heir of new Set(heirs.values())) {
      this.connection.run(
        `UPDATE sessions SET message_count = (SELECT count(*) FROM entries WHERE session = sessions.uuid AND entry_type = 'message'),
           total_tokens = (SELECT coalesce(sum(token_estimate), 0) FROM entries WHERE session = sessions.uuid) WHERE uuid = ?`,
        [heir],
      );
    }
    const tree = new TreeRows(this.connection);
    const orphans = this.connection.all('SELECT uuid, parent_session, fork_entry FROM sessions WHERE parent_session IS NOT NULL');
    for (const { uuid, parent_session: parent, fork_entry: fork } of orphans) {
      if (!sessions.includes(String(parent))) continue;
      let start: { readonly session: string; readonly entry: string } | null = null;
      for (const node of typeof fork === 'string' ? tree.walkUp(fork) : []) {
        const session = tree.sessionOf(node.uuid);
        if (session === undefined || session === uuid) continue;
        start = { session, entry: node.uuid };
        break;
      }
      this.connection.run('UPDATE sessions SET parent_session = ?, fork_entry = ? WHERE uuid = ?', [
        start?.session ?? null,
        start?.entry ?? null,
        uuid ?? null,
      ]);
    }
  }
}

/** What becomes of the entries of sessions that are deleted. */
interface PurgePlan {
  /** UUIDs of the sessions that are there. */
  readonly sessions: readonly string[];
  /** What follows comes before what it follows. */
  readonly gone: readonly TreeNode[];
  /** Entries that stay, by uuid, and the session that they are handed on to. */
  readonly heirs: ReadonlyMap<string, string>;
  /** The lowest number of an entry that goes or is handed on. */
  readonly first: number;
}

/**
 * An entry stays when one that stays comes after it, or when a session that stays stands on it, was forked from it or has pinned
 * it; a label or checkpoint stays with what it marks. It is handed on to the oldest session that needs it (of two as old, the one with
 * the lower uuid: every device chooses the same): what came before it is needed by that session too, so the fork lines of the others lead
 * there and not to a session that is no more.
 */
function planPurge(connection: Connection, wanted: readonly string[]): PurgePlan {
  const tree = new TreeRows(connection);
  const there = new Set(connection.all('SELECT uuid FROM sessions').map((row) => String(row['uuid'])));
  const sessions = [...new Set(wanted)].filter((uuid) => there.has(uuid));
  const doomed = new Set(sessions);
  const nodes = new Map<string, TreeNode>();
  for (const session of sessions) for (const node of tree.own(session)) nodes.set(node.uuid, node);

  const heirs = new Map<string, string>();
  for (const { session, entry } of neededBy(connection, sessions, doomed)) {
    for (let node = nodes.get(entry); node && !heirs.has(node.uuid); node = nodes.get(node.parent ?? '')) heirs.set(node.uuid, session);
  }
  for (const node of nodes.values()) {
    if (heirs.has(node.uuid) || node.parent === null || !markTypes.has(node.type)) continue;
    const heir = nodes.has(node.parent) ? heirs.get(node.parent) : tree.sessionOf(node.parent);
    if (heir !== undefined) heirs.set(node.uuid, heir);
  }
  const gone = [...nodes.values()].filter(({ uuid }) => !heirs.has(uuid)).sort((x, y) => y.seq - x.seq);
  const first = [...nodes.values()].reduce((least, { seq }) => Math.min(least, seq), Infinity);
  return { sessions, gone, heirs, first };
}

/** Entries of the doomed sessions that others need, the oldest of those sessions first. */
function neededBy(
  connection: Connection,
  sessions: readonly string[],
  doomed: ReadonlySet<string>,
): { readonly session: string; readonly entry: string }[] {
  const needs: { session: string; entry: string }[] = [];
  for (const session of sessions) {
    const rows = connection.iterate(
      `SELECT DISTINCT e.session AS session, e.parent AS entry FROM entries p CROSS JOIN entries e ON e.parent = p.uuid
       WHERE p.session = ? AND e.session <> p.session`,
      [session],
    );
    for (const row of rows) needs.push({ session: String(row['session']), entry: String(row['entry']) });
  }
  const others = `SELECT uuid AS session, leaf_entry AS entry FROM sessions WHERE leaf_entry IS NOT NULL
    UNION ALL SELECT uuid, fork_entry FROM sessions WHERE fork_entry IS NOT NULL
    UNION ALL SELECT session, target FROM pins WHERE kind = 'entry'`;
  for (const row of connection.iterate(others)) needs.push({ session: String(row['session']), entry: String(row['entry']) });
  const age = new Map(connection.all('SELECT uuid FROM sessions ORDER BY created_at, uuid').map((row, i) => [String(row['uuid']), i]));
  return needs.filter(({ session }) => !doomed.has(session)).sort((x, y) => (age.get(x.session) ?? 0) - (age.get(y.session) ?? 0));
}

/** Hashes of the files that any of these rows needs; `content_json` of an entry, or `attachments_json` of what is not sent yet. */
function blobNames(rows: Iterable<Row>): Set<string> {
  const names = new Set<string>();
  for (const row of rows) {
    if (typeof row['blob_hash'] === 'string') names.add(row['blob_hash']);
    for (const column of ['content_json', 'attachments_json']) {
      // Whatever looks like a hash counts: a name too many keeps a file, one too few loses it.
      for (const [name] of String(row[column] ?? '').matchAll(/\b[0-9a-f]{64}\b/g)) names.add(name);
    }
  }
  return names;
}

/** Every file that an entry, a draft or a queued message needs. Reads no texts: they come after these columns in the row. */
function neededBlobs(connection: Connection): Set<string> {
  const names = blobNames(
    connection.iterate('SELECT content_json FROM bodies WHERE content_json LIKE \'%"hash"%\' OR content_json LIKE \'{"type":"damaged"%\''),
  );
  for (const sql of [
    'SELECT blob_hash FROM bodies WHERE blob_hash IS NOT NULL',
    'SELECT attachments_json FROM drafts',
    'SELECT attachments_json FROM queue',
  ]) {
    for (const name of blobNames(connection.iterate(sql))) names.add(name);
  }
  return names;
}

export const purgeOperations = {
  purgePreview: ({ purges }, sessions) => purges.preview(sessions),
  purge: { run: ({ purges }, sessions) => purges.run(sessions), tells: () => ({ kind: 'session', session: null }) },
} satisfies Partial<Operations<{ readonly purges: Purge }>>;
