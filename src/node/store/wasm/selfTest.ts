import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Connection, toStoreError } from '../database/connection';
import { sizeOf } from '../database/storeFiles';
import type { Binding, DatabaseFiles } from './fileBridge';
import { thisProcess } from '../sharing/processIdentity';
import type { Sqlite } from './sqlite';

export const scratchPrefix = 'selftest-';

/**
 * Tries the file bridge on a scratch database in the same folder before the real one is touched: write, look at the bytes from
 * outside, recover from an unfinished run, close, reopen, read. Returns why the bridge must not be used, or null. Throws
 * `disk_full` and `permission`: those are the folder's fault, and in-memory SQLite would run into them as well.
 */
export function selfTest(sqlite: Sqlite, folder: string): string | null {
  if (sqlite.unbridged !== null) return sqlite.unbridged;
  const main = join(folder, `${scratchPrefix}${randomUUID()}`);
  const files: DatabaseFiles = { main, wal: `${main}.live`, journal: `${main}.undo` };
  const text = 'ünicode ✓ '.repeat(2000);
  try {
    withScratch(sqlite, files, (connection, binding) => {
      // One commit that is synced says as much about the bridge as five, and opening a store is what the user waits for.
      connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
      connection.exec('BEGIN; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);');
      connection.run('INSERT INTO t VALUES (1, ?)', [text]);
      connection.exec('COMMIT');
      expect(sizeOf(files.wal) > text.length, 'the log is not on disk after a commit');
      expect(binding.syncs > 0, 'a commit was not synced');
      return 'abandon';
    });
    withScratch(sqlite, files, (connection) => {
      expect(connection.get('SELECT b FROM t WHERE a = 1')?.['b'] === text, 'the log was not recovered');
      connection.exec('UPDATE t SET a = 2');
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;');
      return 'close';
    });
    expect(sizeOf(files.wal) === 0, 'the log is still there after a clean close');
    expect(readFileSync(main, 'latin1').startsWith('SQLite format 3\0'), 'the file does not begin as a database');
    withScratch(sqlite, files, (connection) => {
      expect(connection.get('SELECT group_concat(a) AS a FROM t')?.['a'] === '2', 'other rows came back than were written');
      return 'close';
    });
    return null;
  } catch (error) {
    const known = toStoreError(error, undefined, main);
    if (known.reason === 'disk_full' || known.reason === 'permission') throw known;
    return known.message;
  } finally {
    for (const file of [files.main, files.wal, files.journal]) rmSync(file, { force: true });
  }
}

function withScratch(sqlite: Sqlite, files: DatabaseFiles, work: (connection: Connection, binding: Binding) => 'close' | 'abandon'): void {
  const { database, binding } = sqlite.openFiles(files);
  const takeLastError = () => {
    const error = binding.lastError;
    binding.lastError = undefined;
    return error;
  };
  const connection = new Connection(database, { file: files.main, beforeCommit: () => undefined, takeLastError });
  try {
    connection.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF;');
    binding.revoked = work(connection, binding) === 'abandon';
    connection.close();
  } catch (error) {
    if (!binding.revoked) throw error;
  } finally {
    sqlite.release(binding);
  }
}

function expect(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}

/**
 * As `selfTest`, whose outcome depends on the program, on Node and on the file system: where all of them have passed since the
 * machine was started, it is not repeated. It costs six syncs: 40 of the 160 ms until the first page of
 * a 72 MB store.
 */
export function selfTestOnce(sqlite: Sqlite, folder: string): string | null {
  const file = join(folder, 'selftest.json');
  const circumstances = circumstancesOf(folder);
  if (sqlite.unbridged === null && circumstances !== null && circumstances === read(file)) return null;
  const problem = selfTest(sqlite, folder);
  if (problem === null && circumstances !== null) write(file, circumstances);
  return problem;
}

/** Null where the system does not tell one start of the machine from the next. */
function circumstancesOf(folder: string): string | null {
  const { bootId, host } = thisProcess();
  if (bootId === null) return null;
  const [program, place] = [statSync(__filename), statSync(folder, { bigint: true })];
  return JSON.stringify({
    program: [program.size, program.mtimeMs],
    node: process.versions.node,
    machine: [host, bootId],
    folder: [String(place.dev), String(place.ino)],
  });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** It is not synced: half a record is none. Without one the test is made again. */
function write(file: string, circumstances: string): void {
  try {
    writeFileSync(file, circumstances, { mode: 0o600 });
  } catch {
    // Whether the folder can be written is for the store to find out.
  }
}
