import type { Database, Statement } from 'sql.js';
import { StoreError, errorText, type StoreErrorReason } from '../../../core/errors';
import { english } from '../../../core/l10n';

export type SqlValue = number | string | Uint8Array | null;
export type Row = Readonly<Record<string, SqlValue>>;

/** What a connection needs to know about where its database lives. */
export interface Backing {
  readonly file: string;
  /** Runs before a transaction begins and before it ends; throws when it must not (the lease is lost, the store is read-only). */
  beforeCommit(): void;
  /** Makes a committed transaction durable where SQLite does not do that itself. When it throws, `reopen` undoes the commit. */
  persist?(database: Database): void;
  reopen?(): Database;
  /** The last error of the file system, cleared by the call. */
  takeLastError?(): NodeJS.ErrnoException | undefined;
}

/** SQL with prepared statements kept, rows as objects, and every failure a `StoreError`. */
export class Connection {
  private readonly prepared = new Map<string, { statement: Statement; columns: string[] }>();
  private inTransaction = false;
  private reopened = 0;

  constructor(
    private database: Database,
    private readonly backing: Backing,
  ) {}

  get file(): string {
    return this.backing.file;
  }

  /** Another text after every change of a row, whoever has made it. */
  get version(): string {
    const { own, others } = this.get('SELECT total_changes() AS own, data_version AS others FROM pragma_data_version') ?? {};
    return [this.reopened, own, others].join(' ');
  }

  all(sql: string, parameters: readonly SqlValue[] = []): Row[] {
    return [...this.iterate(sql, parameters)];
  }

  get(sql: string, parameters: readonly SqlValue[] = []): Row | undefined {
    for (const row of this.iterate(sql, parameters)) return row;
    return undefined;
  }

  run(sql: string, parameters: readonly SqlValue[] = []): void {
    const { statement } = this.guard(() => this.prepare(sql));
    try {
      this.guard(() => statement.run([...parameters]));
    } finally {
      statement.reset();
    }
  }

  /** Rows as SQLite finds them; leaving the loop early ends the query. */
  *iterate(sql: string, parameters: readonly SqlValue[] = []): Generator<Row, void, void> {
    const { statement, columns } = this.guard(() => this.prepare(sql));
    try {
      this.guard(() => statement.bind([...parameters]));
      while (this.guard(() => statement.step())) {
        const values = statement.get();
        const row: Record<string, SqlValue> = {};
        for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i] ?? null;
        yield row;
      }
    } finally {
      statement.reset();
    }
  }

  /** Several statements without parameters. */
  exec(sql: string): void {
    this.guard(() => this.database.run(sql));
  }

  /** All of `work` or nothing; what it returns is durable. Throws what `work` throws, or the reason the commit failed. */
  transaction<T>(work: () => T): T {
    if (this.inTransaction) throw new StoreError('invalid', english('A transaction is already open'));
    this.backing.beforeCommit();
    this.exec('BEGIN IMMEDIATE');
    this.inTransaction = true;
    let result: T;
    try {
      result = work();
      // The work may have taken longer than others wait for a sign of life.
      this.backing.beforeCommit();
      this.exec('COMMIT');
    } catch (error) {
      this.rollBack();
      throw error;
    } finally {
      this.inTransaction = false;
    }
    this.persist();
    return result;
  }

  /** Ends the connection whatever state it is in; throws when SQLite could not close cleanly. */
  close(): void {
    this.prepared.clear();
    this.guard(() => this.database.close());
  }

  private persist(): void {
    const { persist, reopen } = this.backing;
    if (!persist || !reopen) return;
    try {
      persist(this.database);
    } catch (error) {
      this.prepared.clear();
      this.database.close();
      this.database = reopen();
      this.reopened++;
      throw toStoreError(error, undefined, this.file);
    }
  }

  private rollBack(): void {
    try {
      this.database.run('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }

  private prepare(sql: string): { statement: Statement; columns: string[] } {
    const known = this.prepared.get(sql);
    if (known) return known;
    const statement = this.database.prepare(sql);
    const entry = { statement, columns: statement.getColumnNames() };
    this.prepared.set(sql, entry);
    return entry;
  }

  private guard<T>(action: () => T): T {
    this.backing.takeLastError?.();
    try {
      return action();
    } catch (error) {
      throw toStoreError(error, this.backing.takeLastError?.(), this.file);
    }
  }
}

const byCode: Readonly<Record<string, StoreErrorReason>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  EACCES: 'permission',
  EPERM: 'permission',
  EROFS: 'permission',
};

const byMessage: readonly (readonly [RegExp, StoreErrorReason])[] = [
  [/database or disk is full/, 'disk_full'],
  [/malformed|not a database|unsupported file format/, 'corrupt'],
  [/readonly database|permission denied/, 'permission'],
  [/append-only|constraint failed/, 'invalid'],
];

/** What went wrong, in the port's terms. sql.js passes on SQLite's message only, so the file system's own error decides first. */
export function toStoreError(error: unknown, cause: NodeJS.ErrnoException | undefined, file: string): StoreError {
  if (StoreError.is(error)) return error;
  const system = cause ?? (error as NodeJS.ErrnoException);
  const text = errorText(error);
  const reason = byCode[system.code ?? ''] ?? byMessage.find(([pattern]) => pattern.test(text))?.[1] ?? 'io';
  const detail = cause && !text.includes(cause.message) ? `${text} (${cause.message})` : text;
  return new StoreError(reason, `${file}: ${detail}`, { cause: cause ?? error });
}

/**
 * SQLite strings are UTF-8 and sql.js reads them as C strings: a NUL ends them, half a surrogate pair becomes U+FFFD and a byte order
 * mark at the beginning is left out. Such strings (a streamed chunk may end between two halves, a file that is pasted begin with the
 * mark) are stored as a blob of UTF-16 instead, so that nothing is lost.
 */
export function packText(text: string): string | Uint8Array {
  return /^\ufeff|[\0\p{Cs}]/u.test(text) ? Buffer.from(text, 'utf16le') : text;
}

export function unpackText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf16le') : '';
}

/** Columns that are only searched or shown hold it: it is close enough to the original, and valid everywhere. */
export function plainText(text: string): string {
  return text.replace(/[\0\p{Cs}]/gu, '\ufffd');
}
