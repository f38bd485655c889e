import { constants } from 'node:fs';
import { lstat, mkdir, open, unlink, realpath, type FileHandle } from 'node:fs/promises';
import { Serial } from '../../core/base/serial';
import { placeName, foldPath, type Place } from '../../core/tools/guard/workspacePath';
import { ToolFault } from '../../core/tools/tool';
import { dirname, isAbsolute, join, relative, sep, posix } from 'node:path';
import { looksSecret } from '../../core/tools/guard/secretFiles';
import type { ToolWorkspace } from '../../core/tools/toolWorkspace';

/** How a place becomes a path, and where it really is: `ToolWorkspace.real`. */
export interface HeldPlaces {
  readonly file: (place: Place) => string;
  readonly real: (place: Place) => Promise<Place | null>;
}

/** No link is followed, and nothing waits for somebody at the other end of a pipe. Windows has neither. */
const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * The bytes of a file at a place that is as `real` gives it. Rejects with `ToolFault` when it is elsewhere by now, because the file or a
 * folder on its way was swapped for a link.
 */
export function readHeld(place: Place, places: HeldPlaces): Promise<Buffer> {
  return withHeld(place, places, constants.O_RDONLY, (handle) => handle.readFile());
}

/**
 * Makes `after` the content of a file that has the content `before` (null: that does not exist; its folders are made). What is checked is
 * what has been opened, so that nothing can come between check and write: no path is followed again. Rejects with `changed` for another
 * content.
 */
export async function replaceHeld(place: Place, places: HeldPlaces, before: string | null, after: string, changed: Error): Promise<void> {
  if (before === null) {
    await makeFolders(place, places);
    return withHeld(place, places, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, (handle) => handle.writeFile(after));
  }
  return withHeld(place, places, constants.O_RDWR, (handle) =>
    replacing.run(async () => {
      if (!(await handle.readFile()).equals(Buffer.from(before))) throw changed;
      const bytes = Buffer.from(after);
      for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at, bytes.length - at, at)).bytesWritten;
      await handle.truncate(bytes.length);
    }),
  );
}

/** Of all sessions of this process: none writes between what another has read and what it writes. */
const replacing = new Serial();

async function withHeld<T>(place: Place, places: HeldPlaces, flags: number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const path = places.file(place);
  const handle = await open(path, flags | careful).catch((error: NodeJS.ErrnoException) =>
    Promise.reject(error.code === 'ELOOP' ? moved(place) : error),
  );
  try {
    const isThere = await isSame(handle, path);
    if (isThere && (await isStill(place, places))) return await use(handle);
    // It came into being just now, somewhere else, and nothing is in it.
    if ((flags & constants.O_EXCL) !== 0 && isThere) await unlink(path);
    throw moved(place);
  } finally {
    await handle.close();
  }
}

async function isSame(handle: FileHandle, path: string): Promise<boolean> {
  const [held, found] = await Promise.all([handle.stat({ bigint: true }), lstat(path, { bigint: true }).catch(() => null)]);
  return held.isFile() && found?.ino === held.ino && found.dev === held.dev;
}

/** The file system may write a name in another way than it was given. */
async function isStill(place: Place, { real }: HeldPlaces): Promise<boolean> {
  const now = await real(place);
  return now?.folder === place.folder && foldPath(now.path) === foldPath(place.path);
}

/** One by one: a folder that was swapped for a link is found before anything is made behind it. */
async function makeFolders(place: Place, places: HeldPlaces): Promise<void> {
  const names = place.path.split('/').slice(0, -1);
  for (let depth = 1; depth <= names.length; depth++) {
    const folder = { folder: place.folder, path: names.slice(0, depth).join('/') };
    await mkdir(places.file(folder)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await isStill(folder, places))) throw moved(place);
  }
}

function moved({ path }: Place): ToolFault {
  return new ToolFault(`Where ${path} leads has changed in the meantime. Nothing was read or written. Ask again.`);
}

/**
 * Where a place on disk is when every link on the way is followed, among folders given by their paths; null when that is outside of
 * all. What does not exist lies where its nearest folder that does. A link that leads nowhere is outside: what is written through it
 * would come into being wherever it points.
 */
export async function realPlace({ folder, path }: Place, roots: readonly string[]): Promise<Place | null> {
  const root = roots[folder];
  if (root === undefined) return null;
  const real = await realOf(join(root, ...path.split('/')));
  if (real === null) return null;
  // The innermost folder counts where one lies in another, as in `toPlace`.
  const places = await Promise.all(roots.map(async (one, index) => ({ index, root: await realpath(one).catch(() => one) })));
  for (const { index, root: one } of places.sort((a, b) => b.root.length - a.root.length)) {
    const inside = relative(one, real);
    if (inside === '' || (inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)))
      return { folder: index, path: inside.split(sep).join('/') };
  }
  return null;
}

async function realOf(file: string): Promise<string | null> {
  const missing: string[] = [];
  for (let at = file; ; ) {
    try {
      return join(await realpath(at), ...missing);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && (error as NodeJS.ErrnoException).code !== 'ENOTDIR') return null;
      const isThere = await lstat(at).then(
        () => true,
        () => false,
      );
      const parent = dirname(at);
      if (isThere || parent === at) return null;
      missing.unshift(at.slice(parent.length).replace(/^[\\/]/, ''));
      at = parent;
    }
  }
}

/** What went wrong with a file, in words. */
export function fileFault(error: unknown, name: string): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${name} is read-only or not accessible. Nothing was changed.`;
    case 'EEXIST':
      return `${name} exists already.`;
    case 'ENOENT':
      return `There is no ${name}.`;
    case 'ENOTDIR':
      return `A part of the path ${name} is a file, not a folder.`;
    case 'EISDIR':
      return `${name} is a folder.`;
    case 'ENOSPC':
      return `The disk is full: ${name} was not written completely. Look at it before you go on.`;
    default:
      return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

interface AttachedFile {
  /** Where it is; null: outside of the workspace. */
  readonly place: Place | null;
  /** What a link leads to that the user did not name: outside, or a secret. They are asked before it is read. */
  readonly target: string | null;
}

/** Follows what the user wants to attach. What they named themselves is not asked about again. */
export async function attachedFile(workspace: Pick<ToolWorkspace, 'real' | 'folders'>, asked: Place): Promise<AttachedFile> {
  const { folders } = workspace;
  const place = await workspace.real(asked);
  if (place) return { place, target: looksSecret(place.path) && !looksSecret(asked.path) ? placeName(place, folders) : null };
  const path = join(folders[asked.folder]?.root ?? '', ...asked.path.split('/'));
  return { place, target: await realpath(path).catch(() => path) };
}

/** The path of an address that was dropped: `/ws/../.ssh/id_rsa` begins with a folder of the workspace and does not lie in it. */
export function plainPath(path: string): string {
  return posix.normalize(path.replaceAll('\\', '/'));
}
