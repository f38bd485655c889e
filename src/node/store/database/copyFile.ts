import { closeSync, constants, copyFileSync, fsyncSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { patientRenameSync } from '../../runtime/patientRename';
import { syncFolder } from './atomicFile';

const chunkBytes = 1024 * 1024;

/** Tests pass ones during which the file changes, and as where it cannot be cloned. */
export interface CopyWays {
  readonly read?: typeof readSync;
  readonly clone?: (from: string, to: string) => boolean;
}

/**
 * Copies a file that another process may be writing, to the end that it then has. `copyFileSync` may never return from one: when the
 * file has become shorter since it looked (a checkpoint empties the log), it goes on asking for the bytes that are missing.
 */
export function copyFileInUse(from: string, to: string, { read = readSync, clone = isCloned }: CopyWays = {}): void {
  if (clone(from, to)) return;
  const source = openSync(from, 'r');
  try {
    const target = openSync(to, 'w', 0o600);
    try {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      for (let at = 0, bytes: number; (bytes = read(source, chunk, 0, chunk.length, at)) > 0; at += bytes)
        writeFileSync(target, chunk.subarray(0, bytes));
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Copies in one step, where the file system can; what else is wrong shows when the file is read. */
function isCloned(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}

/**
 * Replaces `to` by a copy of `from`, which nobody writes meanwhile: afterwards, and after a power loss at any moment, it holds either the
 * old or the new content. Never has the file in memory, which Node refuses from 2 GB on. What a crash leaves behind ends with `.tmp`.
 */
export function copyFileDurably(from: string, to: string): void {
  const temporary = `${to}.tmp`;
  try {
    copyFileInUse(from, temporary);
    const fd = openSync(temporary, 'r+');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    patientRenameSync(temporary, to);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(to));
}
