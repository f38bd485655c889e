import { lstat, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileContentMime, type FileVersion } from '../../core/rewind/fileChanges';
import type { SessionStore } from '../../core/ports';
import { contentHash, packContent, unpackContent } from './packedContent';

/** Larger files are not kept; as large as tools read (core/tools/files/textFile.ts). */
export const mostKeptBytes = 10 * 1024 * 1024;

/** Keeps contents of files in the store, each once. */
export class KeptFiles {
  constructor(private readonly store: Pick<SessionStore, 'putBlob' | 'blob'>) {}

  /** Rejects with `StoreError`. */
  async keep(content: Uint8Array, kind: FileVersion['kind']): Promise<FileVersion> {
    const blob = content.length > mostKeptBytes ? null : await this.store.putBlob(packContent(content), fileContentMime);
    return { hash: contentHash(content), bytes: content.length, kind, blob };
  }

  /** Null when it was not kept, or is gone. What an imported history says of its size is not believed. */
  async content(version: FileVersion): Promise<Buffer | null> {
    const blob = version.blob === null || version.bytes > mostKeptBytes ? undefined : await this.store.blob(version.blob);
    return blob ? unpackContent(blob, version) : null;
  }
}

/** What stands at a path on disk, as no link is followed; null: nothing, or a folder. Rejects with what the file system says. */
export async function fileOnDisk(path: string): Promise<{ readonly content: Buffer; readonly kind: FileVersion['kind'] } | null> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw error;
  });
  if (found?.isSymbolicLink()) return { content: Buffer.from(await readlink(path)), kind: 'link' };
  if (!found?.isFile()) return null;
  return { content: await readFile(path), kind: kindOf(found.mode) };
}

/** Whether a link is among the folders that lead to a path below `root`: what stands behind it is no file of that path. */
export async function isBehindLink(root: string, path: string): Promise<boolean> {
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth++) {
    const found = await lstat(join(root, ...names.slice(0, depth))).catch(() => null);
    if (!found?.isDirectory()) return found?.isSymbolicLink() ?? false;
  }
  return false;
}

export function kindOf(mode: number): FileVersion['kind'] {
  return process.platform !== 'win32' && (mode & 0o100) !== 0 ? 'executable' : 'file';
}
