import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../../core/errors';
import type { TaskProgress } from '../../core/session/verifyReport';
import { BlobFiles } from './blobFiles';
import type { Connection } from './connection';
import { acquireLease, Lease } from './lease';
import { newestVersion, schemaVersion } from './migrations';
import { copyTo } from './readonlyCopy';
import { finishRecovery, nameAside, planExchange } from './recoverStore';
import { applicationId } from './schema';
import type { Sqlite } from './sqlite';
import { openForEditing } from './storeDatabase';
import { toStoreError } from './storeFault';
import { besides, readGeneration, type StoreFiles } from './storeFiles';
import { blobContentTable, blobStore, filesOf, knownBlobs } from './verifyBlobs';

export interface RestoreRequest {
  /** A backup, or the file of a store that nobody uses. */
  readonly backup: string;
  readonly files: StoreFiles;
  /** Where the backup is made ready: a file in the folder of the store that is not there yet. */
  readonly temporary: string;
  /** Names this process in the lease. */
  readonly label: string;
}

export interface Restored {
  readonly sessions: number;
  readonly entries: number;
  /** Where the history that was there is now; null when there was none. */
  readonly keptAt: string | null;
}

/**
 * Puts a backup in place of a store that nobody uses. The store is renamed, and the exchange happens whole or not at all, as in a
 * recovery. Throws with the store as it was: `readonly` when a process uses it, `newer_schema`, `corrupt` when the file is no
 * history. A backup of an older version is migrated when the store is opened.
 */
export async function restoreStore(sqlite: Sqlite, { backup, files, temporary, label }: RestoreRequest, onProgress: (progress: TaskProgress) => void): Promise<Restored> {
  try {
    mkdirSync(files.folder, { recursive: true });
    const lease = await acquireLease(files.lease, { label, waitMs: 0 });
    if (!(lease instanceof Lease)) {
      const holder = 'heldBy' in lease ? lease.heldBy : null;
      throw new StoreError('readonly', `${files.main} is in use by ${holder ? `${holder.label}, process ${holder.process.pid}` : 'another program'}. Close it, then restore the backup`);
    }
    try {
      finishRecovery(files);
      const counts = prepare(sqlite, backup, files, temporary, onProgress);
      lease.verify();
      const keptAt = nameAside(files.main, 'replaced', Date.now());
      const isReplaced = existsSync(files.main);
      planExchange(files, temporary, keptAt);
      finishRecovery(files);
      return { ...counts, keptAt: isReplaced ? keptAt : null };
    } finally {
      lease.release();
    }
  } catch (error) {
    throw toStoreError(error, undefined, backup);
  }
}

function prepare(sqlite: Sqlite, backup: string, files: StoreFiles, temporary: string, onProgress: (progress: TaskProgress) => void): Pick<Restored, 'sessions' | 'entries'> {
  const copy = besides(temporary);
  try {
    onProgress({ phase: 'Copying', done: 0, total: 1 });
    copyTo(besides(backup), copy);
    const opened = openForEditing(sqlite, copy);
    try {
      const { connection } = opened;
      refuseForeign(connection, backup);
      restoreBlobs(connection, dirname(backup), files.folder, onProgress);
      // Else the restored file would look like one that has lost its last writes.
      connection.transaction(() => connection.run("INSERT OR REPLACE INTO meta(key, value) VALUES ('generation', ?)", [readGeneration(files)]));
      const count = (table: string) => Number(connection.get(`SELECT count(*) AS n FROM ${table}`)?.['n'] ?? 0);
      const counts = { sessions: count('sessions'), entries: count('entries') };
      opened.close();
      return counts;
    } catch (error) {
      opened.abandon();
      throw error;
    }
  } catch (error) {
    for (const file of [copy.main, copy.wal, copy.journal]) rmSync(file, { force: true });
    throw error;
  }
}

function refuseForeign(connection: Connection, backup: string): void {
  if (Number(connection.get('PRAGMA application_id')?.['application_id']) !== applicationId) throw new StoreError('corrupt', `${backup} is not a Threadkeeper history`);
  if (schemaVersion(connection) > newestVersion()) throw new StoreError('newer_schema', `${backup} was written by a newer version of Threadkeeper. Update Threadkeeper, then restore it`);
}

/** What is there and sound stays; what the backup has lost is lost in the restored history, too. */
function restoreBlobs(connection: Connection, from: string, to: string, onProgress: (progress: TaskProgress) => void): void {
  const [source, target, blobs] = [blobStore(connection, from), filesOf(to), knownBlobs(connection)];
  const files = new BlobFiles(to);
  blobs.forEach(({ hash }, done) => {
    onProgress({ phase: 'Restoring attachments', done, total: blobs.length });
    const bytes = target.problem(hash) === null || source.problem(hash) !== null ? undefined : source.read(hash);
    if (bytes) files.write(bytes);
  });
  connection.exec(`DROP TABLE IF EXISTS ${blobContentTable}`);
  if (blobs.length > 0) connection.exec('VACUUM');
}
