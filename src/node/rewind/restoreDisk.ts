import { link, lstat, mkdir, open, readdir, readFile, readlink, realpath, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { syncFolder, writeFileAtomic } from '../store/database/atomicFile';

/** What a restore does to a disk; a test hands in one that fails, or ends the process, before a given call. */
export interface RestoreDisk {
  /** Where a folder really is. */
  readonly realpath: (path: string) => Promise<string>;
  readonly lstat: typeof lstat;
  readonly readFile: (path: string) => Promise<Buffer>;
  readonly readlink: (path: string) => Promise<string>;
  readonly readdir: (path: string) => Promise<string[]>;
  readonly mkdir: (path: string) => Promise<void>;
  readonly rmdir: (path: string) => Promise<void>;
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly link: (from: string, to: string) => Promise<void>;
  readonly symlink: (target: string, path: string) => Promise<void>;
  readonly unlink: (path: string) => Promise<void>;
  readonly rmAll: (path: string) => Promise<void>;
  /** A new file whose content is on disk when it resolves. */
  readonly writeNew: (path: string, content: Uint8Array, mode: number) => Promise<void>;
  readonly saveJournal: (file: string, text: string) => Promise<void>;
  readonly removeJournal: (file: string) => Promise<void>;
  readonly syncFolder: (path: string) => Promise<void>;
}

export const realDisk: RestoreDisk = {
  realpath: (path) => realpath(path),
  lstat,
  readFile: (path) => readFile(path),
  readlink: (path) => readlink(path),
  readdir: (path) => readdir(path),
  mkdir: (path) => mkdir(path),
  rmdir,
  rename,
  link,
  symlink: (target, path) => symlink(target, path),
  unlink,
  rmAll: (path) => rm(path, { recursive: true, force: true }),
  writeNew: async (path, content, mode) => {
    const handle = await open(path, 'wx', mode);
    try {
      await handle.writeFile(content);
      // Past the mask of the process: a script stays one.
      if (process.platform !== 'win32') await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  saveJournal: async (file, text) => writeFileAtomic(file, text),
  removeJournal: async (file) => rmSync(file, { force: true }),
  syncFolder: async (path) => syncFolder(path),
};
