import { readFileSync, rmSync } from 'node:fs';
import type { Database } from 'sql.js';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { syncFolder, writeFileAtomic } from './atomicFile';
import { Connection, toStoreError } from './connection';
import { copyFileDurably } from './copyFile';
import type { Binding, DatabaseFiles } from '../wasm/fileBridge';
import { findSilentDamage } from './logDamage';
import { migrate, refuseNewer, schemaVersion } from './migrations';
import type { Sqlite } from '../wasm/sqlite';
import { checkDatabaseFile, newPageSize, readGeneration, sizeOf, writeGeneration } from './storeFiles';
import type { StoreFiles } from './storeFiles';
import { applyWal } from './walFrames';

const pageSize = `PRAGMA page_size = ${newPageSize};`;

/** An open database. Everything committed through `connection` is durable when the call returns. */
export interface StoreDatabase {
  readonly connection: Connection;
  readonly durability: 'file' | 'export';
  /** Set when the file is older than the generation marker says: a copy was put back, or its log was deleted. */
  readonly olderThanExpected: boolean;
  /** Leaves one ordinary SQLite file behind. Throws when that failed; the next open then recovers. */
  close(): void;
  /** The files belong to another process now: lets go of them without writing a byte. */
  abandon(): void;
}

/**
 * Opens the store's database for writing; the caller holds the lease and `beforeCommit` proves it. Creates and migrates as
 * needed. `whileBusy` is called throughout its work, which may take long. Throws `corrupt` or `newer_schema` with every file
 * untouched, and what the file system says otherwise.
 */
export function openForWriting(
  sqlite: Sqlite,
  files: StoreFiles,
  beforeCommit: () => void,
  durability: 'file' | 'export',
  whileBusy?: () => void,
): StoreDatabase {
  const { exists, pageSize: storedPageSize } = checkDatabaseFile(files);
  const silent = exists ? findSilentDamage(files, storedPageSize) : null;
  if (silent !== null) throw new StoreError('corrupt', `${files.main}: ${silent}`);
  const opened = durability === 'file' ? openFile(sqlite, files, beforeCommit, whileBusy) : openExported(sqlite, files, beforeCommit);
  try {
    const { connection } = opened;
    migrate(connection, (version) => {
      if (durability === 'file') connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      copyFileDurably(files.main, `${files.main}.v${version}.bak`);
    });
    const expected = readGeneration(files);
    const found = Number(connection.get("SELECT value FROM meta WHERE key = 'generation'")?.['value'] ?? 0);
    const generation = Math.max(found, expected) + 1;
    connection.transaction(() => connection.run("INSERT OR REPLACE INTO meta(key, value) VALUES ('generation', ?)", [generation]));
    writeGeneration(files, generation);
    return { ...opened, durability, olderThanExpected: exists && found < expected };
  } catch (error) {
    opened.abandon();
    throw toStoreError(error, undefined, files.main);
  }
}

/** Makes a database file with what `fill` puts into it; on disk when this returns. Throws what `fill` throws, or the disk's error. */
export function createDatabaseFile(sqlite: Sqlite, file: string, fill: (connection: Connection) => void): void {
  if (sqlite.unbridged !== null) {
    const database = sqlite.openMemory();
    const connection = new Connection(database, { file, beforeCommit: () => undefined });
    connection.exec(pageSize);
    fill(connection);
    writeFileAtomic(file, database.export());
    connection.close();
    return;
  }
  const opened = bridged(sqlite, { main: file, wal: `${file}.live`, journal: `${file}.undo` }, () => undefined);
  try {
    opened.connection.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; ${pageSize} PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL;`,
    );
    fill(opened.connection);
    opened.connection.close();
  } catch (error) {
    opened.abandon();
    throw error;
  }
  sqlite.release(opened.binding);
}

/** Opens a file that nobody else knows, to change it; `close` leaves one ordinary SQLite file on disk. */
export function openForEditing(sqlite: Sqlite, files: DatabaseFiles): Pick<StoreDatabase, 'connection' | 'close' | 'abandon'> {
  if (sqlite.unbridged !== null) {
    const database = sqlite.openMemory(readMerged(files));
    const connection = new Connection(database, { file: files.main, beforeCommit: () => undefined });
    const close = () => {
      writeFileAtomic(files.main, database.export());
      connection.close();
    };
    return { connection, close, abandon: () => connection.close() };
  }
  const opened = bridged(sqlite, files, () => undefined);
  try {
    opened.connection.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE;',
    );
  } catch (error) {
    opened.abandon();
    throw error;
  }
  const close = () => {
    opened.connection.close();
    sqlite.release(opened.binding);
  };
  return { connection: opened.connection, close, abandon: opened.abandon };
}

/** Opens a private copy (readonlyCopy.ts), which recovery may write to; queries alone are let through. Errors name it `original`. */
export function openCopy(
  sqlite: Sqlite,
  files: DatabaseFiles,
  refuse: () => void = refuseAll,
  original = files.main,
): Pick<StoreDatabase, 'connection' | 'abandon'> {
  if (sqlite.unbridged !== null) return openInMemory(sqlite, files, refuse);
  const opened = bridged(sqlite, files, refuse, original);
  opened.connection.exec('PRAGMA locking_mode = EXCLUSIVE');
  if (schemaVersion(opened.connection) === 0) {
    opened.abandon();
    throw new StoreError('io', english('{0} is still being created', original));
  }
  opened.connection.exec('PRAGMA query_only = ON');
  return opened;
}

/** The same without a copy, at the price of holding all of it. The caller has made sure that nobody writes the files. */
export function openInMemory(sqlite: Sqlite, files: DatabaseFiles, refuse: () => void): Pick<StoreDatabase, 'connection' | 'abandon'> {
  const connection = new Connection(sqlite.openMemory(readMerged(files)), { file: files.main, beforeCommit: refuse });
  return { connection, abandon: () => connection.close() };
}

function refuseAll(): void {
  throw new StoreError('readonly', english('A copy is not written to'));
}

function openFile(sqlite: Sqlite, files: StoreFiles, beforeCommit: () => void, whileBusy?: () => void) {
  const opened = bridged(sqlite, files, beforeCommit);
  const { connection } = opened;
  if (whileBusy) opened.binding.whileBusy = whileBusy;
  try {
    // Exclusive before the first read: otherwise WAL mode asks for shared memory, which there is none of.
    connection.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; ${pageSize}`);
    // Nothing is written before the file has proven readable. The log may know a newer version than the header on disk.
    refuseNewer(schemaVersion(connection), files.main);
    // Opening writes to `meta` next: damage there is to be met while the file is still as it was found.
    if (connection.get("SELECT 1 FROM sqlite_master WHERE name = 'meta'")) connection.get('SELECT count(*) FROM meta');
    const mode = connection.get('PRAGMA journal_mode = WAL')?.['journal_mode'];
    if (mode !== 'wal') throw new StoreError('io', english('{0}: SQLite stayed in journal mode {1}', files.main, String(mode)));
    // NORMAL lost 254 acknowledged commits in 400 simulated power cuts, FULL none. secure_delete: when a page is split, what has moved
    // to another must not stay behind as well, where no later deletion finds it (purge.ts); writes no page more.
    connection.exec(
      'PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 16777216; PRAGMA wal_autocheckpoint = 2000;',
    );
  } catch (error) {
    opened.abandon();
    throw error;
  }
  const close = () => {
    try {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;');
      connection.close();
    } finally {
      sqlite.release(opened.binding);
    }
  };
  return { connection, close, abandon: opened.abandon };
}

function bridged(sqlite: Sqlite, files: DatabaseFiles, beforeCommit: () => void, file = files.main) {
  let opened: { database: Database; binding: Binding };
  try {
    opened = sqlite.openFiles(files);
  } catch (error) {
    throw toStoreError(error, undefined, file);
  }
  const { database, binding } = opened;
  const takeLastError = () => {
    const error = binding.lastError;
    binding.lastError = undefined;
    return error;
  };
  const connection = new Connection(database, { file, beforeCommit, takeLastError });
  const abandon = () => {
    binding.revoked = true;
    try {
      connection.close();
    } catch {
      // Closing wants to checkpoint, which is what must not happen.
    }
    sqlite.release(binding);
  };
  return { connection, binding, abandon };
}

function openExported(sqlite: Sqlite, files: StoreFiles, beforeCommit: () => void) {
  // What is on disk. A commit that cannot be exported is undone from here and not from the file, which may be out of reach.
  let saved = readMerged(files);
  const load = () => {
    const database = sqlite.openMemory(saved);
    database.run(
      `PRAGMA journal_mode = MEMORY; PRAGMA temp_store = MEMORY; PRAGMA secure_delete = FAST; PRAGMA foreign_keys = ON; ${pageSize}`,
    );
    return database;
  };
  const persist = (database: Database) => {
    const content = database.export();
    writeFileAtomic(files.main, content);
    saved = content;
  };
  const database = load();
  const connection = new Connection(database, { file: files.main, beforeCommit, persist, reopen: load });
  if (sizeOf(files.wal) > 0) {
    refuseNewer(schemaVersion(connection), files.main);
    beforeCommit();
    // The order matters: once the file holds what the log says, replaying a log that was not yet deleted changes nothing.
    persist(database);
    rmSync(files.wal);
    syncFolder(files.folder);
  }
  return { connection, close: () => connection.close(), abandon: () => connection.close() };
}

/** The database file with its log applied, in rollback-journal format; undefined when there is none yet. */
function readMerged(files: DatabaseFiles): Uint8Array | undefined {
  if (sizeOf(files.main) === 0) return undefined;
  if (sizeOf(files.journal) > 0) {
    throw new StoreError('io', english('{0} holds an unfinished transaction that cannot be undone without the file bridge', files.journal));
  }
  const main = new Uint8Array(readFileSync(files.main));
  const merged = sizeOf(files.wal) > 0 ? applyWal(main, readFileSync(files.wal)) : main;
  merged[18] = merged[19] = 1;
  return merged;
}
