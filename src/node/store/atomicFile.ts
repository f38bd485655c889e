import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';

/**
 * Replaces `file` as a whole: afterwards, and after a power loss at any moment, it holds either the old or the new content.
 * Throws the file system's error and then has left `file` alone. What a crash leaves behind begins with `temporaryName`, ends with
 * `.tmp` and may be removed.
 */
export function writeFileAtomic(file: string, content: string | Uint8Array, temporaryName = file): void {
  const temporary = `${temporaryName}.${randomUUID()}.tmp`;
  try {
    writeDurable(temporary, content);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(file));
}

/** Writes a new file and waits until its content is on disk; fails when it exists. */
function writeDurable(file: string, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const fd = openSync(file, 'wx', 0o600);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes created, renamed and removed names durable. Windows cannot sync a folder; some network file systems refuse to. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') throw error;
  } finally {
    closeSync(fd);
  }
}
