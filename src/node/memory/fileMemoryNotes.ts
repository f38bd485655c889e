import { Serial } from '../../core/base/serial';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rmdir, unlink } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { NoteChangedError } from '../../core/errors';
import type { MemoryNotes } from '../../core/ports';
import { checkNotePath, userFolder } from '../../core/memory/notes';
import { patientRename } from '../runtime/patientRename';

export interface NoteLimits {
  readonly bytesPerNote: number;
  readonly notes: number;
  readonly bytesInAll: number;
}

const defaultLimits: NoteLimits = { bytesPerNote: 100_000, notes: 500, bytesInAll: 5_000_000 };
const temporary = /^\.tmp-/;
/** Deeper than a note can be: a link loop or a foreign folder ends here. */
const maxDepth = 8;

/**
 * Notes as files of a folder, which the user may edit at the same time. Writing is atomic (a private file, synced, renamed over
 * the note) and never follows a symbolic link out of the folder; links are neither listed nor read. Rejections have messages for
 * the model.
 */
export class FileMemoryNotes implements MemoryNotes {
  private readonly serial = new Serial();

  constructor(
    private readonly folder: string,
    private readonly limits: NoteLimits = defaultLimits,
  ) {}

  /** What cannot be read, or cannot be named on every system, is left out. */
  async list(): Promise<{ path: string; bytes: number; modifiedAt: number }[]> {
    const found: { path: string; bytes: number; modifiedAt: number }[] = [];
    const walk = async (relative: string, depth: number): Promise<void> => {
      const entries = await readdir(join(this.folder, relative), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
        if (!isNotePath(path)) continue;
        if (entry.isDirectory()) {
          if (depth < maxDepth) await walk(path, depth + 1);
        } else if (entry.isFile()) {
          const stat = await lstat(join(this.folder, path)).catch(() => null);
          if (stat?.isFile()) found.push({ path, bytes: stat.size, modifiedAt: Math.round(stat.mtimeMs) });
        }
      }
    };
    await walk('', 1);
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  async read(path: string): Promise<string | undefined> {
    const file = await this.locate(path);
    if (file === null) return undefined;
    // Opening a pipe would wait for a writer.
    if (!(await lstat(file).catch(ifMissing))?.isFile()) return undefined;
    const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(ifMissing);
    if (handle === null) return undefined;
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return undefined;
      if (stat.size > this.limits.bytesPerNote * 10) throw new Error(`${path} is too large to be a note (${stat.size} bytes).`);
      const bytes = await handle.readFile();
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        throw new Error(`${path} is not a text file.`);
      }
    } finally {
      await handle.close();
    }
  }

  write(path: string, text: string, was?: string | null): Promise<void> {
    return this.serial.run(async () => {
      const bytes = Buffer.byteLength(text);
      if (bytes > this.limits.bytesPerNote) {
        throw new Error(`The note would have ${bytes} bytes; at most ${this.limits.bytesPerNote} are allowed. Split it or shorten it.`);
      }
      const others = (await this.list()).filter((note) => note.path !== checkNotePath(path, 'file'));
      if (others.length >= this.limits.notes) throw new Error(`There are ${others.length} notes already. Delete or merge some.`);
      const total = others.reduce((sum, note) => sum + note.bytes, bytes);
      if (total > this.limits.bytesInAll)
        throw new Error(`All notes together would have ${total} bytes; at most ${this.limits.bytesInAll} are allowed.`);
      const file = await this.prepare(path);
      await this.expectPlain(file, path);
      await writeAtomically(file, text, async () => {
        if (was !== undefined && ((await this.read(path)) ?? null) !== was) throw new NoteChangedError(path);
      });
    });
  }

  delete(path: string, was?: string): Promise<void> {
    return this.serial.run(async () => {
      const file = await this.locate(path);
      const gone = await replacing.run(async () => {
        if (was !== undefined && (await this.read(path)) !== was) throw new NoteChangedError(path);
        return file !== null && (await unlink(file).catch(ifMissing)) !== null;
      });
      if (!gone) throw new Error(`${path} does not exist.`);
      await this.removeEmptyFolders(path);
    });
  }

  rename(from: string, to: string): Promise<void> {
    return this.serial.run(async () => {
      const source = await this.locate(from);
      const stat = source === null ? null : await lstat(source).catch(ifMissing);
      if (source === null || !stat?.isFile()) throw new Error(`${from} does not exist.`);
      const target = await this.prepare(to);
      const there = await lstat(target).catch(ifMissing);
      // The same file: only the case of the name changes, on a system that does not tell them apart.
      if (there && !(there.ino === stat.ino && there.dev === stat.dev && there.ino !== 0)) throw new Error(`${to} already exists.`);
      await patientRename(source, target);
      await this.removeEmptyFolders(from);
    });
  }

  /** The file of a note whose folder exists; null when it does not. */
  private async locate(path: string): Promise<string | null> {
    const relative = checkNotePath(path, 'file');
    const file = join(this.folder, ...relative.split('/'));
    const [root, parent] = await Promise.all([realpath(this.folder).catch(ifMissing), realpath(dirname(file)).catch(ifMissing)]);
    if (root === null || parent === null) return null;
    if (parent !== root && !parent.startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw new Error(`${path} leads out of the notes through a symbolic link.`);
    }
    return file;
  }

  /** Makes the folders of a note one by one, none of them behind a link. */
  private async prepare(path: string): Promise<string> {
    const segments = checkNotePath(path, 'file').split('/').slice(0, -1);
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    let folder = this.folder;
    for (const segment of segments) {
      folder = join(folder, segment);
      await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
      });
      const stat = await lstat(folder);
      if (stat.isSymbolicLink()) throw new Error(`${path} leads through a symbolic link.`);
      if (!stat.isDirectory()) throw new Error(`${path} cannot be made: ${segment} is a note, not a folder.`);
    }
    const file = await this.locate(path);
    if (file === null) throw new Error(`${path} cannot be made: its folder is gone.`);
    return file;
  }

  private async expectPlain(file: string, path: string): Promise<void> {
    const stat = await lstat(file).catch(ifMissing);
    if (stat && !stat.isFile()) throw new Error(stat.isDirectory() ? `${path} is a folder.` : `${path} is a symbolic link.`);
  }

  private async removeEmptyFolders(path: string): Promise<void> {
    for (let segments = checkNotePath(path, 'file').split('/').slice(0, -1); segments.length > 0; segments = segments.slice(0, -1)) {
      const gone = await rmdir(join(this.folder, ...segments)).then(
        () => true,
        () => false,
      );
      if (!gone) return;
    }
  }
}

/** Of all sessions of this process: none renames or deletes between the last look of another and what it does then. */
const replacing = new Serial();

/** `check` looks at what stands there at the last moment, and rejects if it is to stay. */
async function writeAtomically(file: string, text: string, check: () => Promise<void>): Promise<void> {
  const folder = dirname(file);
  const draft = join(folder, `.tmp-${randomUUID()}`);
  const handle = await open(draft, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(text, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await replacing.run(async () => {
      await check();
      await patientRename(draft, file);
    });
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  // The rename itself; Windows cannot open folders.
  const parent = await open(folder, 'r').catch(() => null);
  await parent?.sync().catch(() => undefined);
  await parent?.close();
}

function isNotePath(path: string): boolean {
  if (temporary.test(path)) return false;
  try {
    return checkNotePath(path, 'file') === path;
  } catch {
    return false;
  }
}

/** Reads and removals use it: what is not there is null; any other failure rejects. */
function ifMissing(error: unknown): null {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EMLINK' || code === 'EISDIR') return null;
  throw error;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** The notes of a workspace, with those of the user under `user/`. */
export class ScopedMemoryNotes implements MemoryNotes {
  constructor(
    private readonly workspace: MemoryNotes,
    private readonly user: MemoryNotes,
  ) {}

  async list(): Promise<{ path: string; bytes: number; modifiedAt: number }[]> {
    const [own, everywhere] = await Promise.all([this.workspace.list(), this.user.list()]);
    return [
      ...own.filter(({ path }) => !path.startsWith(userFolder)),
      ...everywhere.map((note) => ({ ...note, path: userFolder + note.path })),
    ];
  }

  read(path: string): Promise<string | undefined> {
    const [notes, inner] = this.route(path);
    return notes.read(inner);
  }

  write(path: string, text: string, was?: string | null): Promise<void> {
    const [notes, inner] = this.route(path);
    return notes.write(inner, text, was);
  }

  delete(path: string, was?: string): Promise<void> {
    const [notes, inner] = this.route(path);
    return notes.delete(inner, was);
  }

  /** Between the two places it is a copy that is removed afterwards: a failure leaves the note in both, never in none. */
  async rename(from: string, to: string): Promise<void> {
    const [source, inner] = this.route(from);
    const [target, renamed] = this.route(to);
    if (source === target) return source.rename(inner, renamed);
    const text = await source.read(inner);
    if (text === undefined) throw new Error(`${from} does not exist.`);
    if ((await target.read(renamed)) !== undefined) throw new Error(`${to} already exists.`);
    await target.write(renamed, text, null);
    await source.delete(inner, text);
  }

  private route(path: string): [notes: MemoryNotes, inner: string] {
    return path.startsWith(userFolder) ? [this.user, path.slice(userFolder.length)] : [this.workspace, path];
  }
}
