import nodeFs from 'node:fs';
import { dirname } from 'node:path';
import { randomUUID } from 'node:crypto';
import { patientRenameSync } from '../../runtime/patientRename';

/** What it takes of `node:fs`; tests hand in one that records, or fails. */
export type AtomicFs = Pick<typeof nodeFs, 'openSync' | 'closeSync' | 'writeSync' | 'fsyncSync' | 'renameSync' | 'rmSync'>;

/**
 * Replaces `file` as a whole: afterwards, and after a power loss at any moment, it holds either the old or the new content.
 * Throws the file system's error and then has left `file` alone. What a crash leaves behind begins with `temporaryName`, ends with
 * `.tmp` and may be removed.
 */
export function writeFileAtomic(file: string, content: string | Uint8Array, temporaryName = file, fs: AtomicFs = nodeFs): void {
  const temporary = `${temporaryName}.${randomUUID()}.tmp`;
  try {
    writeDurable(temporary, content, fs);
    patientRenameSync(temporary, file, { rename: (from, to) => fs.renameSync(from, to) });
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(file), fs);
}

/** Writes a new file and waits until its content is on disk; fails when it exists. */
function writeDurable(file: string, content: string | Uint8Array, fs: AtomicFs): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const fd = fs.openSync(file, 'wx', 0o600);
  try {
    for (let written = 0; written < bytes.length; ) written += fs.writeSync(fd, bytes, written, bytes.length - written, written);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** Makes created, renamed and removed names durable. Windows cannot sync a folder; some network file systems refuse to. */
export function syncFolder(folder: string, fs: Pick<AtomicFs, 'openSync' | 'closeSync' | 'fsyncSync'> = nodeFs): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') throw error;
  } finally {
    fs.closeSync(fd);
  }
}
