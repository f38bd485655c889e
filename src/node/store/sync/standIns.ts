import type { EntryContent, NewEntry } from '../../../core/session/entry';
import type { Connection, Row, SqlValue } from '../database/connection';
import { keepNumber, type EntryRows } from '../rows/entryRows';
import type { TreeNode, TreeRows } from '../rows/treeRows';
import type { SearchIndex } from '../search/searchIndex';
import { queueChange } from './outbox';

/** Tables with a row for an entry under its number. */
const tables = [
  ['entries', 'seq'],
  ['bodies', 'entry'],
  ['compactions', 'entry'],
  ['checkpoints', 'entry'],
] as const;

/** What stood there before a transaction in which others' entries are merged. */
export interface Before {
  /** Numbers of texts that a repair has kept without knowing of which entries they were, by what they say. */
  readonly fragments: ReadonlyMap<string, readonly number[]>;
  /** The highest number of an entry. */
  readonly highest: number;
}

/**
 * The `stand_ins` table: entries of which a repair has made up the place, the content or both. What was there comes from other devices, and
 * gets its place and its number back. Writes expect to run inside a transaction.
 */
export class StandIns {
  constructor(
    private readonly connection: Connection,
    private readonly entries: EntryRows,
    private readonly tree: TreeRows,
    private readonly index: SearchIndex,
  ) {}

  has(entry: string): boolean {
    return this.connection.get('SELECT 1 FROM stand_ins WHERE entry = ?', [entry]) !== undefined;
  }

  add(entry: string): void {
    noteStandIn(this.connection, entry);
  }

  before(): Before {
    const highest = Number(this.connection.get('SELECT max(seq) AS n FROM entries')?.['n'] ?? 0);
    return { fragments: this.fragments(), highest };
  }

  private fragments(): Before['fragments'] {
    const found = new Map<string, number[]>();
    const rows = this.connection.all(
      'SELECT e.seq FROM stand_ins s CROSS JOIN entries e ON e.uuid = s.entry WHERE s.is_fragment = 1 ORDER BY e.seq',
    );
    for (const { seq, content } of this.entries.findBySeq(rows.map((row) => Number(row['seq'])))) {
      const said = ordered(content);
      found.set(said, [...(found.get(said) ?? []), seq]);
    }
    return found;
  }

  /** Stores an entry whose parent is there: under the number of its fragment, which goes, where that is above the parent's. */
  insert(entry: NewEntry, wantedSeq: number, before: Before): void {
    const number = this.takeFragment(before, entry, wantedSeq);
    const fits = number !== null && (entry.parent === null || number > this.seqOf(entry.parent));
    if (fits) this.entries.insert(entry, number, { seq: number - 1, parent: null });
    else this.entries.insert(entry, wantedSeq);
  }

  /**
   * Puts the entry where something stands in for it, under the number of its fragment or else the one that it has; its parent is there.
   * Where no numbers are free for what comes before it, it says what it said, and stays where it is.
   */
  replace(entry: NewEntry, wantedSeq: number, before: Before): void {
    const { connection, entries } = this;
    const fragment = this.takeFragment(before, entry, wantedSeq);
    const row = connection.get(
      'SELECT seq, parent, (SELECT min(seq) FROM entries c WHERE c.parent = e.uuid) AS child FROM entries e WHERE uuid = ?',
      [entry.uuid],
    );
    const old = Number(row?.['seq']);
    const seq = fragment !== null && fragment < Number(row?.['child'] ?? Infinity) ? fragment : old;
    const late = this.behind(entry.parent, seq, entry.uuid);
    const hasRoom = late !== null && this.moveBefore(seq, late, before);
    const kept = row?.['parent'];
    const parent = hasRoom ? entry.parent : typeof kept === 'string' ? kept : null;
    const number = hasRoom ? seq : old;
    this.purging(() => {
      for (const [table, key] of [...tables].reverse()) connection.run(`DELETE FROM ${table} WHERE ${key} = ?`, [old]);
      entries.insert({ ...entry, parent }, number, { seq: number - 1, parent }, false);
    });
    if (hasRoom) connection.run('DELETE FROM stand_ins WHERE entry = ?', [entry.uuid]);
    this.changed(Math.min(old, number));
  }

  /** Lets go of a fragment that says what the entry says and may have stood in its place; its number is most likely the entry's. */
  private takeFragment({ fragments }: Before, entry: NewEntry, wantedSeq: number): number | null {
    if (fragments.size === 0) return null;
    const left = (fragments.get(ordered(entry.content)) ?? []).filter((seq) => this.mayBe(seq, entry));
    // An entry that was written here tells its number; the others are higher than what they follow.
    const seq = left.find((one) => one === wantedSeq) ?? left[0];
    if (seq === undefined) return null;
    this.letGo(seq);
    return seq;
  }

  /**
   * Of a fragment nothing is known but its number and that it is from before the repair: it was no entry that was said later, that comes
   * after one with a higher number which the repair has found in its place, or that something with a lower number follows.
   */
  private mayBe(seq: number, { uuid, parent, createdAt }: NewEntry): boolean {
    const { connection } = this;
    const row = connection.get(
      `SELECT e.created_at AS repaired, (SELECT min(seq) FROM entries c WHERE c.parent = ?) AS child
       FROM entries e JOIN stand_ins s ON s.entry = e.uuid WHERE e.seq = ? AND s.is_fragment = 1`,
      [uuid, seq],
    );
    if (!row || createdAt > Number(row['repaired']) || seq >= Number(row['child'] ?? Infinity)) return false;
    const highest = Number(connection.get('SELECT value FROM meta WHERE key = ?', [highestKey])?.['value'] ?? 0);
    return this.behind(parent, seq, uuid)?.every((node) => node.seq > highest) ?? false;
  }

  /**
   * What follows it follows what it followed. A session that had nothing else goes with it: to the trash, everywhere, where others have
   * heard of it, and not where somebody has begun to work in it.
   */
  private letGo(seq: number): void {
    const { connection } = this;
    const {
      uuid = null,
      parent = null,
      session = null,
    } = connection.get('SELECT uuid, parent, session FROM entries WHERE seq = ?', [seq])!;
    this.purging(() => {
      for (const child of connection.all('SELECT seq FROM entries WHERE parent = ?', [uuid]))
        this.rewrite('entries', 'seq', Number(child['seq']), { parent });
      connection.run('UPDATE sessions SET leaf_entry = ? WHERE leaf_entry = ?', [parent, uuid]);
      connection.run('DELETE FROM bodies WHERE entry = ?', [seq]);
      connection.run('DELETE FROM entries WHERE seq = ?', [seq]);
    });
    connection.run('DELETE FROM stand_ins WHERE entry = ?', [uuid]);
    connection.run("DELETE FROM sync_outbox WHERE kind = 'entry' AND target = ?", [seq]);
    keepNumber(connection, seq);
    const isEmpty = ['entries', 'drafts', 'queue', 'pins'].map((table) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE session = ?1)`);
    if (connection.get(`SELECT 1 FROM sessions WHERE uuid = ?1 AND deleted_at IS NULL AND ${isEmpty.join(' AND ')}`, [session])) {
      const isKnown = connection.get('SELECT 1 FROM sync_keys WHERE session = ?', [session]) !== undefined;
      if (isKnown) {
        connection.run('UPDATE sessions SET deleted_at = ? WHERE uuid = ?', [Date.now(), session]);
        queueChange(connection, 'register', String(session), 'deletedAt');
      } else connection.run('DELETE FROM sessions WHERE uuid = ?', [session]);
    }
    connection.run(
      "UPDATE sessions SET message_count = (SELECT count(*) FROM entries WHERE session = sessions.uuid AND entry_type = 'message') WHERE uuid = ?",
      [session],
    );
    this.changed(seq);
  }

  /** The parent and what comes before it, as far as that has higher numbers; null where that leads back to the entry itself. */
  private behind(parent: string | null, seq: number, entry: string): TreeNode[] | null {
    const late: TreeNode[] = [];
    for (const node of parent === null ? [] : this.tree.walkUp(parent)) {
      if (node.uuid === entry) return null;
      if (node.seq < seq) break;
      late.push(node);
    }
    return late;
  }

  /**
   * An entry has a higher number than the one it follows. What a damaged page has taken comes again at the end; the numbers that it had
   * are free, and it gets them back, the nearest first. False: too few are free.
   */
  private moveBefore(seq: number, late: readonly TreeNode[], { highest }: Before): boolean {
    const { connection } = this;
    if (late.length === 0) return true;
    const root = late.at(-1)!.parent;
    const floor = root === null ? 0 : this.seqOf(root);
    const free = connection
      .all(
        `WITH RECURSIVE numbers(n) AS (SELECT ? UNION ALL SELECT n - 1 FROM numbers WHERE n > ?)
         SELECT n FROM numbers WHERE n > ? AND NOT EXISTS (SELECT 1 FROM entries WHERE seq = n) LIMIT ?`,
        [seq - 1, floor, floor, late.length],
      )
      .map((row) => Number(row['n']));
    if (free.length < late.length) return false;
    // Those of this transaction nobody has seen yet; of the others somebody may cite one.
    keepNumber(connection, Math.max(0, ...late.map((node) => node.seq).filter((number) => number <= highest)));
    this.purging(() => {
      for (const [i, node] of late.entries()) {
        for (const [table, key] of tables) this.rewrite(table, key, node.seq, { [key]: free[i]! });
        connection.run("UPDATE sync_outbox SET target = ? WHERE kind = 'entry' AND target = ?", [free[i]!, node.seq]);
      }
    });
    this.changed(free.at(-1)!);
    return true;
  }

  private seqOf(uuid: string): number {
    return Number(this.connection.get('SELECT seq FROM entries WHERE uuid = ?', [uuid])?.['seq']);
  }

  /** The row is written anew, as entries are never changed. */
  private rewrite(table: string, key: string, at: number, change: Readonly<Record<string, SqlValue>>): void {
    const row: Row | undefined = this.connection.get(`SELECT * FROM ${table} WHERE ${key} = ?`, [at]);
    if (!row) return;
    const changed = { ...row, ...change };
    const names = Object.keys(changed);
    this.connection.run(`DELETE FROM ${table} WHERE ${key} = ?`, [at]);
    this.connection.run(
      `INSERT INTO ${table}(${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      Object.values(changed).map((value) => value ?? null),
    );
  }

  /** Rows go and come back within the transaction: whatever names them finds them in the end. */
  private purging(work: () => void): void {
    const { connection } = this;
    connection.exec('PRAGMA defer_foreign_keys = ON');
    connection.run("INSERT INTO meta(key, value) VALUES ('purging', 1)");
    work();
    connection.run("DELETE FROM meta WHERE key = 'purging'");
  }

  /** The index has passages by the numbers of entries: of those from here on it knows what was there before. */
  private changed(from: number): void {
    if (from <= this.index.indexedThrough) this.index.reset();
  }
}

/** The highest number of an entry that a repair has found: what it has lost comes again under higher ones. */
const highestKey = 'repaired_through';

/** For a repair that keeps fragments. */
export function noteHighest(connection: Connection): void {
  connection.run('INSERT OR REPLACE INTO meta(key, value) SELECT ?, max(seq) FROM entries', [highestKey]);
}

/** For a repair, which makes them. */
export function noteStandIn(connection: Connection, entry: string, isFragment = false): void {
  connection.run('INSERT OR IGNORE INTO stand_ins(entry, is_fragment) VALUES (?, ?)', [entry, isFragment ? 1 : 0]);
}

/** The same for contents that say the same, in whatever order their properties stand. */
function ordered(content: EntryContent): string {
  return JSON.stringify(content, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}
