import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { lacksOnlyAttachments, problemCount, type TaskProgress, type VerifyReport } from '../../../core/maintenance/reports';
import { patientRenameSync } from '../../runtime/patientRename';
import { syncFolder } from '../database/atomicFile';
import { copyTo } from './readonlyCopy';
import type { Sqlite } from '../wasm/sqlite';
import { openForEditing } from '../database/storeDatabase';
import { toStoreError } from '../database/connection';
import { besides, storeFiles, type StoreFiles } from '../database/storeFiles';
import { blobContentTable, filesOf, knownBlobs } from '../repair/verifyContents';
import { verifyCopy } from '../repair/verifyStore';

export interface BackupRequest {
  /** The store has these files; any process may be using it. */
  readonly files: StoreFiles;
  readonly target: string;
  /** Where the backup grows before it gets its name: a file beside the target that is not there yet. */
  readonly temporary: string;
  readonly overwrite: boolean;
}

/**
 * Writes the store as it is at one moment into one ordinary SQLite file, attachments included. Returns what was checked of it.
 * Throws with the target as it was: `invalid` when it exists and may not be overwritten or lies in the folder of a history, `corrupt` when
 * the store is damaged (a good backup that is replaced by a damaged one is a loss). Where no more is wrong than that attachments are gone,
 * all else is written under a new name: no repair brings them back, and the history would never be backed up again.
 *
 * A copy of the files, as readers make it, and not SQLite's backup interface: that needs the owner's connection, which another
 * process may have, and takes turns with its writes; this disturbs nobody and works for every process.
 */
export function backUpStore(
  sqlite: Sqlite,
  { files, target, temporary, overwrite }: BackupRequest,
  onProgress: (progress: TaskProgress) => void,
): VerifyReport {
  refuseExisting(target, overwrite);
  refuseStoreFolder(dirname(target));
  const copy = besides(temporary);
  try {
    mkdirSync(dirname(target), { recursive: true });
    const report = verifyCopy(sqlite, files, () => (copyTo(files, copy), copy), onProgress);
    const [first] = report.problems;
    const isLacking = lacksOnlyAttachments(report);
    if (isLacking && existsSync(target))
      throw new StoreError(
        'corrupt',
        english(
          'This history lacks attachments ({0}: {1}), which {2} may still have, so it was not replaced. Name another file',
          first!.where,
          first!.meaning,
          target,
        ),
      );
    if (first && !isLacking) {
      throw new StoreError(
        'corrupt',
        english(
          'This history is damaged ({0} problems; the first: {1}: {2}), so it was not backed up. Verify and repair it first',
          problemCount(report),
          first.where,
          first.meaning,
        ),
      );
    }
    addBlobs(sqlite, files, temporary, isLacking, onProgress);
    refuseExisting(target, overwrite);
    patientRenameSync(temporary, target);
    syncFolder(dirname(target));
    return report;
  } catch (error) {
    throw toStoreError(error, undefined, target);
  }
}

function addBlobs(
  sqlite: Sqlite,
  files: StoreFiles,
  temporary: string,
  isLacking: boolean,
  onProgress: (progress: TaskProgress) => void,
): void {
  const opened = openForEditing(sqlite, besides(temporary));
  try {
    const { connection } = opened;
    connection.exec(`CREATE TABLE ${blobContentTable}(hash TEXT PRIMARY KEY, data BLOB NOT NULL)`);
    const source = filesOf(files.folder);
    const blobs = knownBlobs(connection);
    blobs.forEach(({ hash }, done) => {
      onProgress({ phase: english('Copying attachments'), done, total: blobs.length });
      const data = source.read(hash);
      if (!data && isLacking) return;
      if (!data) throw new StoreError('io', english('The attachment {0} vanished while it was backed up', hash.slice(0, 12)));
      connection.transaction(() => connection.run(`INSERT INTO ${blobContentTable}(hash, data) VALUES (?, ?)`, [hash, data]));
    });
    opened.close();
  } catch (error) {
    opened.abandon();
    throw error;
  }
}

function refuseExisting(target: string, overwrite: boolean): void {
  if (!overwrite && existsSync(target)) throw new StoreError('invalid', english('{0} exists already', target));
}

/** A backup under the name of a history that is in use would destroy it: its owner goes on writing a log for the file that is gone. */
function refuseStoreFolder(folder: string): void {
  if (existsSync(storeFiles(folder).generation))
    throw new StoreError('invalid', english('{0} is the folder of a history, not a place for backups. Choose another folder', folder));
}
