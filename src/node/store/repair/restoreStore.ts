import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { Salvage, TaskProgress } from '../../../core/maintenance/reports';
import { patientRenameSync } from '../../runtime/patientRename';
import { BlobFiles } from '../rows/blobFiles';
import { toStoreError, type Connection } from '../database/connection';
import { acquireLease, Lease } from '../sharing/lease';
import { migrate, newestVersion, schemaVersion } from '../database/migrations';
import { copyTo } from '../copies/readonlyCopy';
import { rebuildStore } from './rebuildStore';
import { finishRecovery, isDamage, nameAside, planExchange } from './recoverStore';
import { openSalvageImage } from './salvageImage';
import { applicationId } from '../database/schema';
import type { Sqlite } from '../wasm/sqlite';
import { createDatabaseFile, openForEditing } from '../database/storeDatabase';
import { besides, readGeneration, type StoreFiles } from '../database/storeFiles';
import { blobContentTable, blobStore, filesOf, knownBlobs, type BlobStore, type KnownBlob } from './verifyContents';

export interface RestoreRequest {
  /** A backup, or the file of a store that nobody uses. */
  readonly backup: string;
  readonly files: StoreFiles;
  /** Where the backup is made ready: a file in the folder of the store that is not there yet. */
  readonly temporary: string;
  /** Names this process in the lease. */
  readonly label: string;
  /** What can be read of a backup that SQLite cannot open is restored. */
  readonly salvage?: boolean;
}

export interface Restored {
  readonly sessions: number;
  readonly entries: number;
  /** Where the history that was there is now; null when there was none. */
  readonly keptAt: string | null;
  /** What could be read of a backup that SQLite cannot open; null for any other. */
  readonly salvage: Salvage | null;
}

/**
 * Puts a backup in place of a store that nobody uses. The store is renamed, and the exchange happens whole or not at all, as in a
 * recovery. Throws with the store as it was: `readonly` when a process uses it, `newer_schema`, `corrupt` when the file is no
 * history. A backup of an older version is migrated when the store is opened.
 */
export async function restoreStore(
  sqlite: Sqlite,
  request: RestoreRequest,
  onProgress: (progress: TaskProgress) => void,
): Promise<Restored> {
  const { backup, files, temporary, label } = request;
  let made: string | undefined;
  try {
    made = mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    const lease = await acquireLease(files.lease, { label, waitMs: 0 });
    if (!(lease instanceof Lease)) {
      const holder = 'heldBy' in lease ? lease.heldBy : null;
      throw new StoreError(
        'readonly',
        holder
          ? english('{0} is in use by {1}, process {2}. Close it, then restore the backup', files.main, holder.label, holder.process.pid)
          : english('{0} is in use by another program. Close it, then restore the backup', files.main),
      );
    }
    try {
      finishRecovery(files);
      const prepared = prepareOrSalvage(sqlite, request, onProgress);
      lease.verify();
      const keptAt = nameAside(files.main, 'replaced', Date.now());
      const isReplaced = existsSync(files.main);
      planExchange(files, temporary, keptAt);
      finishRecovery(files);
      return { ...prepared, keptAt: isReplaced ? keptAt : null };
    } finally {
      lease.release();
    }
  } catch (error) {
    if (made !== undefined) removeEmpty(files.folder);
    throw toStoreError(error, undefined, backup);
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something is in it.
  }
}

function prepareOrSalvage(sqlite: Sqlite, request: RestoreRequest, onProgress: (progress: TaskProgress) => void): Omit<Restored, 'keptAt'> {
  const { backup, files, temporary } = request;
  try {
    return { ...prepare(sqlite, backup, files, temporary, onProgress), salvage: null };
  } catch (error) {
    if (request.salvage !== true || !isDamage(error)) throw error;
    const salvage = salvageTo(sqlite, request, onProgress);
    if (!salvage)
      throw new StoreError('corrupt', english('Nothing can be read of {0}, so nothing was changed. {1}', backup, error.message));
    return { sessions: salvage.sessions, entries: salvage.entries, salvage };
  }
}

/** Reads as a repair would (recoverStore.ts), with the attachments that can be read; null, and nothing made, when there is nothing. */
function salvageTo(
  sqlite: Sqlite,
  { backup, files, temporary }: RestoreRequest,
  onProgress: (progress: TaskProgress) => void,
): Salvage | null {
  const fresh = `${temporary}.salvaged.tmp`;
  const salvaged: Salvage[] = [];
  onProgress({ phase: english('Reading what can be read'), done: 0, total: 1 });
  const source = openSalvageImage(sqlite, besides(backup));
  try {
    if (!source) return null;
    createDatabaseFile(sqlite, fresh, (target) => {
      migrate(target, () => undefined);
      salvaged.push(rebuildStore(source.connection, target, source.leaves));
      target.transaction(() => target.run("INSERT OR REPLACE INTO meta(key, value) VALUES ('generation', ?)", [readGeneration(files)]));
      copyBlobs(knownBlobs(target), blobStore(source.connection, dirname(backup)), files.folder, onProgress);
    });
    const found = salvaged.find(({ sessions, entries }) => sessions + entries > 0);
    if (found) patientRenameSync(fresh, temporary);
    return found ?? null;
  } finally {
    source?.connection.close();
    for (const file of [fresh, `${fresh}.live`, `${fresh}.undo`]) rmSync(file, { force: true });
  }
}

function prepare(
  sqlite: Sqlite,
  backup: string,
  files: StoreFiles,
  temporary: string,
  onProgress: (progress: TaskProgress) => void,
): Pick<Restored, 'sessions' | 'entries'> {
  const copy = besides(temporary);
  try {
    onProgress({ phase: english('Copying'), done: 0, total: 1 });
    copyTo(besides(backup), copy);
    const opened = openForEditing(sqlite, copy);
    try {
      const { connection } = opened;
      refuseForeign(connection, backup);
      restoreBlobs(connection, dirname(backup), files.folder, onProgress);
      // Else the restored file would look like one that has lost its last writes.
      connection.transaction(() =>
        connection.run("INSERT OR REPLACE INTO meta(key, value) VALUES ('generation', ?)", [readGeneration(files)]),
      );
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
  if (Number(connection.get('PRAGMA application_id')?.['application_id']) !== applicationId)
    throw new StoreError('corrupt', english('{0} is not a Threadkeeper history', backup));
  if (schemaVersion(connection) > newestVersion())
    throw new StoreError(
      'newer_schema',
      english('{0} was written by a newer version of Threadkeeper. Update Threadkeeper, then restore it', backup),
    );
}

function restoreBlobs(connection: Connection, from: string, to: string, onProgress: (progress: TaskProgress) => void): void {
  const blobs = knownBlobs(connection);
  copyBlobs(blobs, blobStore(connection, from), to, onProgress);
  connection.exec(`DROP TABLE IF EXISTS ${blobContentTable}`);
  if (blobs.length > 0) connection.exec('VACUUM');
}

/** What is there and sound stays; what the backup has lost is lost in the restored history, too. */
function copyBlobs(blobs: readonly KnownBlob[], source: BlobStore, to: string, onProgress: (progress: TaskProgress) => void): void {
  const [target, files] = [filesOf(to), new BlobFiles(to)];
  blobs.forEach(({ hash }, done) => {
    onProgress({ phase: english('Restoring attachments'), done, total: blobs.length });
    const bytes = target.problem(hash) === null || source.problem(hash) !== null ? undefined : source.read(hash);
    if (bytes) files.write(bytes);
  });
}
