import { existsSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, SqlValue } from 'sql.js';
import { english } from '../../../core/l10n';
import { ReadBounds, checkSchemaTree } from './readBounds';
import { loadSqlite, type Sqlite } from '../../store/wasm/sqlite';
import { applyWal, WalTooLong } from '../../store/database/walFrames';
import { isHalfWritten, type LivePages } from './livePages';

/** Rows that are wanted. Each name is a column that is stored, or `rowid`; `rowid desc` to order by it backwards. */
export interface Which {
  readonly equal?: Readonly<Record<string, SqlValue>>;
  readonly above?: Readonly<Record<string, SqlValue>>;
  readonly upTo?: Readonly<Record<string, SqlValue>>;
  readonly from?: Readonly<Record<string, SqlValue>>;
  readonly below?: Readonly<Record<string, SqlValue>>;
  readonly order?: readonly string[];
  readonly limit?: number;
  /** Beside the columns. */
  readonly withRowid?: true;
}

const rowid = 'rowid';
const newestFirst = 'rowid desc';
/** `hidden` of a column that is computed when it is written. */
const storedGenerated = 3;
/** Called by SQLite for every row that it comes to, before any other condition: sql.js has no progress handler. */
const boundsFunction = 'within_bounds';
const withinBounds = `${boundsFunction}()`;

/** SQLite runs in memory here: an image and what it takes beside it have to fit. */
const mostBytes = 1024 * 1024 * 1024;
const [freeBytes, timesFiles] = [16 * 1024 * 1024, 4];
/** How often a database is read again that was written meanwhile. */
const attempts = 5;

/** Between two of these, in milliseconds. */
const pauseMs = 30;

/**
 * Another program's database as it stands, with what lies in its `-wal`: nothing is written, locked or created beside its files, whether
 * the program runs or not.
 */
export class ForeignDatabase {
  private readonly stored = new Map<string, ReadonlySet<string>>();

  private constructor(
    private readonly database: Database,
    private readonly bounds: ReadBounds,
  ) {
    database.create_function(boundsFunction, () => bounds.visited());
  }

  /** It may take as long as it takes: both files are read into memory and put together there. `heed`: throws once it is stopped. */
  static async open(file: string, wasmFile: string, heed?: () => void): Promise<ForeignDatabase> {
    const image = await readConsistent(file);
    // A copy in memory has no log of its own: the header must not ask for one.
    if (image.length > 19) image.fill(1, 18, 20);
    checkSchemaTree((into, at) => into.set(image.subarray(at, at + into.length)), image.length);
    return new ForeignDatabase((await loadSqlite(wasmFile)).openMemory(image), new ReadBounds(image.length, heed));
  }

  /**
   * What `read` finds in the database, of which only the pages are read that it needs. It is called again when the program has moved pages
   * meanwhile; so it is to be short, and to change nothing. Measured for a new row of a session of 5,000 in 235 MB: 0.5 MB read in 11 ms
   * (median), where the whole takes 1.9 s.
   */
  static async glance<T>(pages: LivePages, wasmFile: string, read: (database: ForeignDatabase) => T): Promise<T> {
    const sqlite = await loadSqlite(wasmFile);
    if (sqlite.unbridged !== null) {
      const whole = await ForeignDatabase.open(pages.file, wasmFile);
      pages.bytesRead = statSync(pages.file).size;
      try {
        return read(whole);
      } finally {
        whole.close();
      }
    }
    for (let i = 0; ; i++) {
      const { value, isOfOneCommit } = glanceOnce(sqlite, pages, (database) =>
        read(new ForeignDatabase(database, new ReadBounds(pages.bytes))),
      );
      if (isOfOneCommit) return value();
      if (i === attempts) throw busy(pages.file);
      await sleep(pauseMs);
    }
  }

  /**
   * The tables whose rows lie in the file. Of views, virtual tables (OpenClaw has FTS5 tables) and generated columns nothing is read: what
   * these would compute, the file says, and it need not come to an end. A view or a virtual table cannot pass for a table, since SQLite
   * compares type and name of each with what its statement creates when it reads the schema.
   */
  tables(): ReadonlySet<string> {
    return new Set(
      [
        ...this.run(
          `SELECT name FROM sqlite_master WHERE ${withinBounds} AND type = 'table' AND rootpage > 0 AND sql LIKE 'CREATE TABLE %'`,
        ),
      ].map((row) => String(row['name'])),
    );
  }

  /** Returns the columns that are stored; none where there is no such table. */
  columns(table: string): ReadonlySet<string> {
    let columns = this.stored.get(table);
    if (!columns) {
      const isTable = this.tables().has(table);
      columns = new Set(
        (isTable ? [...this.run(`PRAGMA table_xinfo(${quoted(table)})`)] : [])
          .filter(({ hidden }) => hidden === 0 || hidden === storedGenerated)
          .map((row) => String(row['name'])),
      );
      this.stored.set(table, columns);
    }
    return columns;
  }

  /** Columns that are not there are null. Throws where the table, or a column that it is to be chosen or ordered by, is not. */
  rows(table: string, wanted: readonly string[] | 'all', which: Which = {}): Generator<Record<string, SqlValue>, void, void> {
    const there = this.columns(table);
    const named = (wanted === 'all' ? [...there] : wanted).map((name) => `${there.has(name) ? quoted(name) : 'NULL'} AS ${quoted(name)}`);
    if (which.withRowid) named.push(rowid);
    const { sql, values } = this.chosen(table, which);
    const order = (which.order ?? []).map((name) => (name === newestFirst ? newestFirst : this.column(table, name)));
    return this.run(
      `SELECT ${named.join(', ')} ${sql} ${order.length === 0 ? '' : `ORDER BY ${order.join(', ')}`} ${which.limit === undefined ? '' : `LIMIT ${which.limit}`}`,
      values,
    );
  }

  count(table: string, which: Which = {}): number {
    const { sql, values } = this.chosen(table, which);
    const [row] = [...this.run(`SELECT count(*) AS n ${sql}`, values)];
    return Number(row?.['n'] ?? 0);
  }

  private chosen(
    table: string,
    { equal = {}, above = {}, upTo = {}, from = {}, below = {} }: Which,
  ): { readonly sql: string; readonly values: readonly SqlValue[] } {
    const compared = [
      ['=', equal],
      ['>', above],
      ['<=', upTo],
      ['>=', from],
      ['<', below],
    ] as const;
    const terms = compared.flatMap(([sign, pairs]) =>
      Object.entries(pairs).map(([name, value]) => ({ term: `${this.column(table, name)} ${sign} ?`, value })),
    );
    if (!this.tables().has(table)) throw new Error(english('The database has no table {0}.', table));
    return {
      sql: `FROM ${quoted(table)} WHERE ${[withinBounds, ...terms.map(({ term }) => term)].join(' AND ')}`,
      values: terms.map(({ value }) => value),
    };
  }

  private column(table: string, name: string): string {
    if (name === rowid) return rowid;
    if (!this.columns(table).has(name)) throw new Error(english('The database has no column {0} in its table {1}.', name, table));
    return quoted(name);
  }

  private *run(sql: string, parameters: readonly SqlValue[] = []): Generator<Record<string, SqlValue>, void, void> {
    const { bounds } = this;
    const statement = this.database.prepare(sql);
    try {
      statement.bind([...parameters]);
      while (statement.step()) {
        const row = statement.getAsObject();
        bounds.took(row);
        yield row;
      }
    } catch (error) {
      // SQLite hands on what is thrown within it as a text.
      throw bounds.thrown ?? error;
    } finally {
      statement.free();
    }
  }

  close(): void {
    this.database.close();
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Database and log of one moment: neither has changed while the other was read. */
async function readConsistent(file: string): Promise<Uint8Array> {
  const log = `${file}-wal`;
  const stamp = async () => {
    const [main, wal] = [await stat(file), existsSync(log) ? await stat(log) : null];
    return { size: main.size + (wal?.size ?? 0), text: [main.size, main.mtimeMs, wal?.size, wal?.mtimeMs].join() };
  };
  for (let i = 0; ; i++) {
    const before = await stamp();
    if (before.size > mostBytes)
      throw new Error(
        english(
          'The database has {0} MB; up to {1} MB can be imported. Export the sessions that you need from the program that it belongs to, and import those.',
          Math.round(before.size / 2 ** 20),
          mostBytes / 2 ** 20,
        ),
      );
    const [main, wal] = [new Uint8Array(await readFile(file)), existsSync(log) ? new Uint8Array(await readFile(log)) : null];
    if ((await stamp()).text === before.text && !isHalfWritten(file)) return wal ? merged(main, wal) : main;
    if (i === attempts) throw busy(file);
  }
}

/** Pages that were made and freed again stand in no file: a database can be longer than its files, within reason. */
function merged(main: Uint8Array, wal: Uint8Array): Uint8Array {
  try {
    return applyWal(main, wal, Math.min(mostBytes, freeBytes + timesFiles * (main.length + wal.length)));
  } catch (error) {
    if (!(error instanceof WalTooLong)) throw error;
    throw new Error(
      english('The log of the database says that it is far longer than its files: it is damaged, or made to fill the memory.'),
      { cause: error },
    );
  }
}

/** What is thrown while pages are moved may come of that. */
function glanceOnce<T>(
  sqlite: Sqlite,
  pages: LivePages,
  read: (database: Database) => T,
): { readonly value: () => T; readonly isOfOneCommit: boolean } {
  pages.open();
  let opened: ReturnType<Sqlite['openSource']> | undefined;
  try {
    checkSchemaTree((into, at) => pages.read(into, 0, into.length, at), pages.size);
    opened = sqlite.openSource(pages);
    const found = read(opened.database);
    return { value: () => found, isOfOneCommit: pages.isStill() };
  } catch (error) {
    const fail = () => {
      throw error;
    };
    // Where there is no file any more, there is nothing to wait for.
    return { value: fail, isOfOneCommit: !existsSync(pages.file) || pages.isStill() };
  } finally {
    opened?.database.close();
    if (opened) sqlite.release(opened.binding);
    pages.close();
  }
}

function busy(file: string): Error {
  if (isHalfWritten(file))
    return new Error(
      english('A change of the database has begun and not ended. It is read once the program that it belongs to has ended it.'),
    );
  return new Error(english('The database is being written all the time. End the program that it belongs to, and import again.'));
}
