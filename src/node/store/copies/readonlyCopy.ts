import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { toStoreError } from '../database/connection';
import { copyFileInUse, type CopyWays } from '../database/copyFile';
import { sizeOf } from '../database/storeFiles';
import { livenessOf, ProcessIdentity, thisProcess } from '../sharing/processIdentity';
import type { DatabaseFiles } from '../wasm/fileBridge';

/** A private copy of a store that another process may be writing. */
interface PrivateCopy {
  readonly files: DatabaseFiles;
  /** What the original looked like; another value later means that something was written. */
  readonly version: string;
  dispose(): void;
}

/**
 * Copies the database and its log as of one moment, without help from the writer. First the file, then the log: whatever a
 * checkpoint has put into the file by then is also in the log, as long as that is still the same round of the log (its salts
 * have not changed), and replaying it completes a page that was copied half-written. Without a log neither the file nor the
 * journal of a transaction that was never finished may have changed while they were copied. Throws `io` when the writer never held
 * still, `corrupt` when the file is empty or missing.
 */
export function copyStore(files: DatabaseFiles, folder = privateFolder(), attempts = 50): PrivateCopy {
  // Windows keeps a file that a virus scanner is looking at.
  const dispose = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const main = join(folder, 'copy.db');
  const copy: DatabaseFiles = { main, wal: `${main}.live`, journal: `${main}.undo` };
  try {
    return { files: copy, version: copyTo(files, copy, attempts), dispose };
  } catch (error) {
    dispose();
    throw toStoreError(error, undefined, files.main);
  }
}

/** Does what `copyStore` does, to files of the caller's choice; returns the version of what was copied. */
export function copyTo(files: DatabaseFiles, copy: DatabaseFiles, attempts = 50, ways: CopyWays = {}): string {
  if (sizeOf(files.main) === 0) throw new StoreError('corrupt', english('{0} is empty or missing', files.main));
  for (let i = 0; i < attempts; i++) {
    const version = storeVersion(files);
    if (copyOnce(files, copy, ways)) return version;
  }
  throw new StoreError('io', english('{0} changed while it was copied, {1} times in a row', files.main, attempts));
}

/** A copy lies in it; what a process leaves behind is removed by the next one. */
export function privateFolder(): string {
  sweep();
  const folder = mkdtempSync(join(tmpdir(), `${copyPrefix}${process.pid}-`));
  writeFileSync(join(folder, ownerFile), JSON.stringify(thisProcess()));
  return folder;
}

const copyPrefix = 'threadkeeper-copy-';
/** It says whose copy this is: a pid alone says nothing after a restart, and nothing about a container that shares the folder. */
const ownerFile = 'process.json';
/** A copy that names no process is one that is just being begun, or an older program's. */
const namelessMs = 24 * 3_600_000;

/** Removes the copies of processes that ended without doing so. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(copyPrefix)) continue;
    const folder = join(tmpdir(), name);
    try {
      if (isLeft(folder)) rmSync(folder, { recursive: true, force: true });
    } catch {
      // Another user's, or gone already.
    }
  }
}

function isLeft(folder: string): boolean {
  const { mtimeMs } = statSync(folder);
  try {
    const owner = ProcessIdentity.parse(JSON.parse(readFileSync(join(folder, ownerFile), 'utf8')));
    return livenessOf(owner, mtimeMs) === 'dead';
  } catch {
    return mtimeMs < Date.now() - namelessMs;
  }
}

/** FAT keeps no times between these, in nanoseconds. */
const fatTickNs = 2_000_000_000n;

/** Changes with every commit of the writer. On FAT never the same twice while another commit would have the same time as the last one. */
export function storeVersion(files: DatabaseFiles): string {
  return [files.main, files.wal]
    .map((file) => (isWithinTick(file) ? `${fingerprint(file)}:${performance.now()}` : fingerprint(file)))
    .join(' ');
}

function isWithinTick(file: string): boolean {
  const written = statSync(file, { bigint: true, throwIfNoEntry: false })?.mtimeNs ?? 1n;
  const age = BigInt(Date.now()) * 1_000_000n - written;
  return written % fatTickNs === 0n && age > -fatTickNs && age < fatTickNs;
}

function copyOnce(files: DatabaseFiles, copy: DatabaseFiles, ways: CopyWays): boolean {
  rmSync(copy.wal, { force: true });
  rmSync(copy.journal, { force: true });
  const saltsBefore = walSalts(files.wal);
  const before = [files.main, files.journal].map(fingerprint).join(' ');
  copyFileInUse(files.main, copy.main, ways);
  if (saltsBefore !== null) {
    if (!copyIfThere(files.wal, copy.wal, ways)) return false;
    // Cut while it was read, the log has its head in the copy and not all that followed: then the original is in another round.
    return walSalts(copy.wal) === saltsBefore && walSalts(files.wal) === saltsBefore;
  }
  // Undoing what the journal holds gives the state before the transaction, finished or not.
  if (sizeOf(files.journal) > 0 && !copyIfThere(files.journal, copy.journal, ways)) return false;
  return walSalts(files.wal) === null && [files.main, files.journal].map(fingerprint).join(' ') === before;
}

function copyIfThere(from: string, to: string, ways: CopyWays): boolean {
  try {
    copyFileInUse(from, to, ways);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** The two numbers that every new round of the log changes; null when there is no log. */
function walSalts(wal: string): string | null {
  const header = Buffer.alloc(32);
  try {
    const fd = openSync(wal, 'r');
    try {
      return readSync(fd, header, 0, 32, 0) === 32 ? header.toString('hex', 16, 24) : null;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function fingerprint(file: string): string {
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : '-';
}
