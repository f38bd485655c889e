import { Serial } from '../../core/base/serial';
import { copyFile, lstat, readdir, readFile, rm } from 'node:fs/promises';
import { constants, type Stats } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { createHash, randomUUID } from 'node:crypto';
import type { Uncovered } from '../../core/rewind/fileChanges';
import { fileOnDisk, isBehindLink, mostKeptBytes } from './keptFiles';
import { isInTouchedFolder, isOlder, touchedIgnored, touchedRepositories } from './ignoredFiles';
import { findRepository, nulls, ShadowRepository } from './gitRepository';

/** Files of one snapshot that are new to Git; more are named and left out: they are data, or should be ignored. */
const mostNewFiles = 20_000;
/** Objects of ours from which the shadow is made anew: what the user's repository has is read from there then. */
const mostObjects = 20_000;

/** A path that a command has changed. */
export interface ChangedPath {
  /** Relative to the folder that was asked about. */
  readonly path: string;
  /** What stood there, for `read`; null: nothing. */
  readonly before: { readonly oid: string; readonly mode: string } | null;
}

export interface CommandChanges {
  readonly changed: readonly ChangedPath[];
  readonly uncovered: readonly Uncovered[];
  /** Contents of what stood there before; absent for what is too large or gone. */
  read(paths: readonly ChangedPath[]): Promise<Map<string, Buffer>>;
}

/** The state of a folder before a command. */
export interface CommandSnapshot {
  /** What has changed since. The snapshot is gone afterwards. */
  changes(): Promise<CommandChanges>;
  dispose(): Promise<void>;
}

interface Differences {
  /** By path: what the index says of files that are not as it says. */
  readonly changed: ReadonlyMap<string, { readonly oid: string; readonly mode: string }>;
  readonly added: readonly string[];
  /** Lists those of `changed` where nothing stands any more. */
  readonly gone: readonly string[];
}

/** One piece of work at a time in each shadow: they share an index. */
const queues = new Map<string, Serial>();
/** Snapshots that need the objects of their shadow. */
const inUse = new Map<string, number>();

/**
 * What a command changes in a folder that lies in a Git repository: Git compares the work tree with an index of ours, so that nothing is
 * read but what has changed. Null when there is no repository. Rejects when Git cannot be used.
 */
export async function takeSnapshot(folder: string, storage: string): Promise<CommandSnapshot | null> {
  const found = await findRepository(folder);
  if (!found) return null;
  const shadow = ShadowRepository.in(storage, found);
  const index = join(shadow.folder, `index-${randomUUID()}`);
  const prefix = found.prefix === '' ? '' : `${found.prefix}/`;
  inUse.set(shadow.folder, (inUse.get(shadow.folder) ?? 0) + 1);
  let isOver = false;
  const dispose = async () => {
    if (isOver) return;
    isOver = true;
    inUse.set(shadow.folder, (inUse.get(shadow.folder) ?? 1) - 1);
    await rm(index, { force: true });
  };
  try {
    const { left, ignored } = await alone(shadow.folder, async () => {
      if (inUse.get(shadow.folder) === 1 && (await objectsOf(shadow)) > mostObjects)
        await rm(shadow.folder, { recursive: true, force: true });
      await shadow.prepare();
      const [now, ignoredThen] = await Promise.all([differences(shadow, found.prefix), knownIgnored(shadow, found.prefix)]);
      const outside = await adopt(shadow, now);
      await copyFile(shadow.index, index);
      return { left: outside, ignored: ignoredThen };
    });
    const began = Date.now();
    const changes = async (): Promise<CommandChanges> => {
      const [now, ignoredNow] = await Promise.all([differences(shadow, found.prefix, index), ignoredPaths(shadow, found.prefix, index)]);
      ignoredLast.set(ignoredKey(shadow, found.prefix), ignoredNow);
      const uncovered = (await touchedIgnored(found.top, ignored, ignoredNow, began)).map(
        (path): Uncovered => ({ path: path.slice(prefix.length), reason: 'ignored' }),
      );
      const nested = [...new Set([...(await submodules(found.top)), ...now.added.filter((path) => path.endsWith('/'))])];
      const within = nested.filter((path) => path.startsWith(prefix));
      for (const path of await touchedRepositories(found.top, within, began))
        uncovered.push({ path: path.slice(prefix.length), reason: 'nested_repository' });
      const changed: ChangedPath[] = [];
      const all = [...[...now.changed].map(([path, before]) => ({ path, before })), ...now.added.map((path) => ({ path, before: null }))];
      const wasIgnored = new Set(ignored);
      const isMoved = movedBy(found.top, now, began);
      const opened = new Set<string>();
      for (const { path, before } of all) {
        const name = path.slice(prefix.length);
        // What Git sees now because it is ignored no more, or no repository of its own, was there before: a restore must not take it away.
        const repository = before === null ? folderIn(left, path) : undefined;
        if (left.has(path)) {
          const reason = await left.get(path)!();
          if (reason) uncovered.push({ path: name, reason });
        } else if (repository !== undefined) opened.add(repository);
        else if (before === null && (wasIgnored.has(path) || folderIn(wasIgnored, path) !== undefined)) continue;
        else if (before === null && !path.endsWith('/') && (await isOlder(join(found.top, path), began)) && !(await isMoved(path)))
          uncovered.push({ path: name, reason: 'ignored' });
        else if (path.includes('\ufffd')) uncovered.push({ path: name, reason: 'name' });
        else if (!path.endsWith('/') && before?.mode !== '160000') changed.push({ path: name, before });
      }
      for (const path of opened) uncovered.push({ path: path.slice(prefix.length), reason: 'nested_repository' });
      return { changed, uncovered, read: (paths) => contents(shadow, paths) };
    };
    return { changes, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * Brings the index up to what is on disk. Returns what it was not brought up to, and how to find out whether that changes: why it is not
 * covered, or null when it has stayed as it was.
 */
async function adopt(
  shadow: ShadowRepository,
  { changed, added }: Differences,
): Promise<Map<string, () => Promise<Uncovered['reason'] | null>>> {
  const left = new Map<string, () => Promise<Uncovered['reason'] | null>>();
  const taken: string[] = [];
  const behindLinks: string[] = [];
  const { top } = shadow.found;
  const leave = (path: string, reason: Uncovered['reason'], before: Stats | null) =>
    left.set(path, async () => {
      const after = await lstat(join(top, path)).catch(() => null);
      return after?.mtimeMs === before?.mtimeMs && after?.size === before?.size ? null : reason;
    });
  for (const [i, path] of [...changed.keys(), ...added].entries()) {
    const found = await lstat(join(top, path)).catch(() => null);
    if (path.endsWith('/') || changed.get(path)?.mode === '160000') left.set(path, async () => null);
    else if (path.includes('\ufffd')) left.set(path, async () => null);
    else if (changed.has(path) && (await isBehindLink(top, path))) behindLinks.push(path);
    else if (i > mostNewFiles && !changed.has(path)) leave(path, 'too_many', found);
    else if (found?.isFile() && found.size > mostKeptBytes) leave(path, 'too_large', found);
    else if (found?.isFile() && !(await isReadable(join(top, path)))) leave(path, 'unreadable', found);
    else if (!found || found.isFile() || found.isSymbolicLink()) taken.push(path);
    else left.set(path, async () => null);
  }
  // Git does not look behind a link, and gives up at such a path.
  if (behindLinks.length > 0) await shadow.git(['update-index', '-z', '--force-remove', '--stdin'], nulls(behindLinks));
  if (taken.length > 0) await shadow.git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], nulls(taken));
  else if (await isMissing(shadow.index)) await shadow.git(['read-tree', '--empty']);
  return left;
}

async function differences(shadow: ShadowRepository, prefix: string, index = shadow.index): Promise<Differences> {
  const below = prefix === '' ? [] : ['--', prefix];
  const [raw, others] = await Promise.all([
    (await isMissing(index))
      ? Buffer.alloc(0)
      : shadow.git(['diff-files', '--raw', '-z', '--no-renames', '--ignore-submodules=all', ...below], '', index),
    shadow.git(['ls-files', '--others', '--exclude-standard', '-z', ...below], '', index),
  ]);
  const changed = new Map<string, { readonly oid: string; readonly mode: string }>();
  const gone: string[] = [];
  const fields = raw.toString('utf8').split('\0');
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [mode = '', , oid = '', , status] = fields[i]!.slice(1).split(' ');
    changed.set(fields[i + 1]!, { mode, oid });
    if (status === 'D') gone.push(fields[i + 1]!);
  }
  return {
    changed,
    gone,
    added: others
      .toString('utf8')
      .split('\0')
      .filter((path) => path !== '' && !changed.has(path)),
  };
}

/**
 * Tells of a path that is older than the command whether it came with a folder that was renamed, by which no file in it gets another time:
 * a file of its name and content has gone then, and a folder above it has a time since `began`. What cannot be kept is told apart by its
 * name alone.
 */
function movedBy(top: string, { changed, gone }: Differences, began: number): (path: string) => Promise<boolean> {
  const oids = new Map<string, Set<string>>();
  for (const path of gone) {
    const name = posix.basename(path);
    oids.set(name, (oids.get(name) ?? new Set()).add(changed.get(path)!.oid));
  }
  return async (path) => {
    const wanted = oids.get(posix.basename(path));
    if (!wanted || !(await isInTouchedFolder(top, path, began))) return false;
    const size = (await lstat(join(top, path)).catch(() => null))?.size ?? 0;
    if (size > mostKeptBytes) return true;
    const found = await fileOnDisk(join(top, path)).catch(() => null);
    return found !== null && [...wanted].some((oid) => oid === blobName(found.content, oid.length));
  };
}

/** What Git calls a content, in a repository whose names are so long. */
function blobName(content: Buffer, length: number): string {
  return createHash(length === 64 ? 'sha256' : 'sha1')
    .update(`blob ${content.length}\0`)
    .update(content)
    .digest('hex');
}

/** The folder of these, which have `/` behind them, in which a path lies. */
function folderIn(paths: { has(path: string): boolean }, path: string): string | undefined {
  for (let end = path.indexOf('/'); end >= 0 && end < path.length - 1; end = path.indexOf('/', end + 1)) {
    const folder = path.slice(0, end + 1);
    if (paths.has(folder)) return folder;
  }
  return undefined;
}

/** Their folders, with `/` behind them, as the tree names them: Git itself would read the configuration of each. */
async function submodules(top: string): Promise<string[]> {
  const text = await readFile(join(top, '.gitmodules'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .flatMap((line) => {
      const [name, value] = line.split('=', 2).map((part) => part.trim());
      return name === 'path' && value ? [`${value.replaceAll('"', '')}/`] : [];
    })
    .filter((path) => !path.split('/').includes('..') && !path.startsWith('/'));
}

/** What Git ignored after the last command, by shadow and folder: asked once more before each, it would cost a third of the snapshot. */
const ignoredLast = new Map<string, readonly string[]>();
/** More are looked at by asking Git. */
const mostRemembered = 1_000;

function ignoredKey({ folder }: ShadowRepository, prefix: string): string {
  return `${folder}\0${prefix}`;
}

/** What Git ignored after the last command and is still there; before the first command, what it ignores now. */
async function knownIgnored(shadow: ShadowRepository, prefix: string): Promise<readonly string[]> {
  const last = ignoredLast.get(ignoredKey(shadow, prefix));
  if (!last || last.length > mostRemembered) return ignoredPaths(shadow, prefix);
  const isThere = await Promise.all(last.map(async (path) => !(await isMissing(join(shadow.found.top, path)))));
  return last.filter((_, i) => isThere[i]);
}

/** What Git ignores: files, and folders as a whole with `/` behind them. */
async function ignoredPaths(shadow: ShadowRepository, prefix: string, index = shadow.index): Promise<string[]> {
  const below = prefix === '' ? [] : ['--', prefix];
  const found = await shadow.git(['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z', ...below], '', index);
  return found
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && !path.includes('\ufffd'));
}

async function contents(shadow: ShadowRepository, paths: readonly ChangedPath[]): Promise<Map<string, Buffer>> {
  const wanted = paths.flatMap(({ path, before }) => (before ? [{ path, oid: before.oid }] : []));
  if (wanted.length === 0) return new Map();
  const sizes = (await shadow.git(['cat-file', '--batch-check=%(objectsize)', '--buffer'], wanted.map(({ oid }) => `${oid}\n`).join('')))
    .toString('latin1')
    .split('\n');
  const small = wanted.filter((_, i) => Number(sizes[i]) <= mostKeptBytes);
  const out =
    small.length === 0
      ? Buffer.alloc(0)
      : await shadow.git(['cat-file', '--batch', '--buffer'], small.map(({ oid }) => `${oid}\n`).join(''));
  const found = new Map<string, Buffer>();
  let at = 0;
  for (const { path } of small) {
    const end = out.indexOf(10, at);
    const [, type, size] = out.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob') continue;
    found.set(path, out.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return found;
}

function alone<T>(shadow: string, work: () => Promise<T>): Promise<T> {
  const queue = queues.get(shadow) ?? new Serial();
  queues.set(shadow, queue);
  return queue.run(work);
}

async function objectsOf({ objects }: ShadowRepository): Promise<number> {
  let sum = 0;
  for (const name of await readdir(objects).catch(() => [])) sum += name.length === 2 ? (await readdir(join(objects, name))).length : 0;
  return sum;
}

async function isMissing(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => null)) === null;
}

function isReadable(file: string): Promise<boolean> {
  return access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
}
