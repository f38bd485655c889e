import { randomUUID } from 'node:crypto';
import { dirname, join, relative, sep } from 'node:path';
import { errorText } from '../../core/errors';
import { english, shown, t } from '../../core/l10n';
import type { FileVersion } from '../../core/rewind/fileChanges';
import type { SeenVersion } from '../../core/rewind/planRestore';
import { looksSecret } from '../../core/tools/guard/secretFiles';
import { thisProcess } from '../store/sharing/processIdentity';
import { contentHash } from './packedContent';
import { kindOf } from './keptFiles';
import { realDisk, type RestoreDisk } from './restoreDisk';
import { isRestorable } from './restorePath';
import { journalFile, type Journal, type JournalFile } from './restoreJournal';

/** One file to restore, in a folder of the workspace. */
export interface FileRestore {
  /** The workspace's folder, absolute. */
  readonly root: string;
  /** Relative to it, with `/`. */
  readonly path: string;
  /** What stands there now; anything else ends the restore before it begins. */
  readonly from: SeenVersion | null;
  /** Null: the file goes. */
  readonly to: { readonly kind: FileVersion['kind']; readonly content: Uint8Array } | null;
}

export type RestoreProblem =
  | 'changed'
  | 'read_only'
  | 'disk_full'
  | 'linked'
  | 'nested_repository'
  /** Something that is no file is in the way, or its folder is not there. */
  | 'in_the_way'
  | 'failed'
  /** It failed at another file, and this one is not as it was: only that leaves something restored, until `resumeRestores` puts it back. */
  | 'not_put_back';

/** Why it was not restored, at which file. */
export class RestoreFault extends Error {
  override readonly name = 'RestoreFault';
  constructor(
    readonly path: string,
    readonly problem: RestoreProblem,
    /** What the system says of it, without the path; empty where the problem says all. */
    readonly detail = '',
    options?: ErrorOptions,
  ) {
    super(detail === '' ? `${path}: ${problem}` : `${path}: ${problem} (${detail})`, options);
  }
}

export interface RestoreOptions {
  /** Folder of ours for the journal. */
  readonly storage: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
  readonly disk?: RestoreDisk;
  /** What tells of it in the history. The files are the new ones when it is recorded, and else the old ones. */
  readonly record?: RestoreRecord;
}

export interface RestoreRecord {
  /** The entry's `uuid`. */
  readonly mark: string;
  /** Rejects when nothing was recorded. */
  readonly append: () => Promise<void>;
}

/*
 * All files or none:
 *
 *   staging ──▶ applying ──▶ done          staging takes all the space there is to take: new contents, and a second name for what is there;
 *      │           │                       applying renames, and then records the restore
 *      ▼           ▼ (a file fails, or the record)
 *   nothing     rolling_back ──▶ nothing   what was renamed is renamed back
 *
 * The journal says where it is. After a crash in `applying` the history says whether the restore has taken place: one that it tells of is
 * `done`, any other goes back (`resumeRestores`), as in `staging` and `rolling_back`. No order of a record and a note in the journal would
 * do: a crash between the two leaves files and history at odds. Of one that is `done` only what is left is removed.
 */

/** Restores of this process that have not ended. */
export const runningRestores = new Set<string>();

/** Rejects with `RestoreFault`, or as the signal or `record` says; then every file is as it was, but for the problem `not_put_back`. */
export async function restoreFiles(files: readonly FileRestore[], options: RestoreOptions): Promise<void> {
  const id = randomUUID();
  runningRestores.add(id);
  try {
    await restoreAs(id, files, options);
  } finally {
    runningRestores.delete(id);
  }
}

async function restoreAs(id: string, files: readonly FileRestore[], options: RestoreOptions): Promise<void> {
  const { storage, signal, onProgress, disk = realDisk, record } = options;
  if (files.length === 0) return record?.append();
  const roots = new Map<string, string>();
  for (const { root, path } of files)
    if (!roots.has(root))
      roots.set(root, await disk.realpath(root).catch(() => Promise.reject(new RestoreFault(path, 'in_the_way', root))));
  const going = new Set(files.filter(({ to }) => to === null).map(({ root, path }) => `${root}\0${path}`));
  const planned: JournalFile[] = [];
  for (const file of files) {
    signal?.throwIfAborted();
    planned.push(await checked(file, { real: roots.get(file.root)!, id, n: planned.length, going }, disk));
  }
  const journal: Journal = {
    id,
    owner: thisProcess(),
    phase: 'staging',
    files: planned,
    stages: [...new Set(planned.map(({ stage }) => stage))],
    ...(record ? { mark: record.mark } : {}),
  };
  const at = journalFile(storage, id);
  await disk.saveJournal(at, JSON.stringify(journal));
  try {
    await stage(files, journal, disk, signal, onProgress);
    await disk.saveJournal(at, JSON.stringify({ ...journal, phase: 'applying' } satisfies Journal));
  } catch (error) {
    // Why nothing was restored is what matters: what is left is removed at the next start.
    await clean(journal, at, disk).catch(() => undefined);
    throw error;
  }
  try {
    await apply(journal.files, disk);
    // What is recorded has to outlive a power cut.
    if (record) await syncFolders(journal, disk);
    await record?.append();
  } catch (error) {
    const back = JSON.stringify({ ...journal, phase: 'rolling_back' } satisfies Journal);
    await disk.saveJournal(at, back).catch(() => undefined);
    await rollBack(journal, disk).catch(async ({ path, problem, detail }: RestoreFault) => {
      // What is left is never to be gone on with.
      await disk.saveJournal(at, back).catch(() => undefined);
      throw new RestoreFault(path, problem, detail, { cause: error });
    });
    await finish(journal, at, disk);
    throw error;
  }
  await finish(journal, at, disk);
}

/**
 * The tree is the new one, or the old one again, and stays it: where what the restore has needed cannot be removed now (Windows keeps a
 * file that somebody reads), the next start removes it, and does nothing to the files, which may be others by then. Never rejects.
 */
export async function finish(journal: Journal, at: string, disk: RestoreDisk): Promise<void> {
  await syncFolders(journal, disk);
  await clean(journal, at, disk)
    .catch(() => disk.saveJournal(at, JSON.stringify({ ...journal, phase: 'done' } satisfies Journal)))
    .catch(() => undefined);
}

async function syncFolders({ files }: Journal, disk: RestoreDisk): Promise<void> {
  for (const folder of new Set(files.map(({ target }) => dirname(target)))) await disk.syncFolder(folder).catch(() => undefined);
}

/** Removes what a restore has needed. */
export async function clean({ stages }: Journal, at: string, disk: RestoreDisk): Promise<void> {
  for (const folder of stages) await disk.rmAll(folder);
  await disk.removeJournal(at);
}

/** Deletes before it creates: names may differ in case only, and a file may take the place of a folder. */
async function apply(files: readonly JournalFile[], disk: RestoreDisk): Promise<void> {
  for (const file of files.filter(({ to }) => to === null)) {
    await checkUnchanged(file, disk);
    await told(file, disk.unlink(file.target));
    await removeEmpty(file, disk);
  }
  for (const file of files.filter(({ to }) => to !== null)) {
    await checkUnchanged(file, disk);
    await makeFolders(file, disk);
    await told(file, disk.rename(staged(file), file.target));
  }
}

/**
 * Puts back whatever is not as it was and is what the restore has made of it; what somebody else has written meanwhile stays. New files go
 * first: one may stand where a folder was. Rejects with `RestoreFault` for the first that fails, when it has tried the others.
 */
export async function rollBack({ files }: Journal, disk: RestoreDisk): Promise<void> {
  let failed: RestoreFault | undefined;
  const back = async (some: readonly JournalFile[]) => {
    for (const file of some) await putBack(file, disk).catch((error: unknown) => (failed ??= notPutBack(file.path, error)));
  };
  const last = [...files].reverse();
  const [fresh, others] = [last.filter(({ from }) => from === null), last.filter(({ from }) => from !== null)];
  await back(fresh);
  // And the folders that were made for those that have not come.
  for (const file of fresh) if (others.some(({ target }) => file.target.startsWith(target + sep))) await removeEmpty(file, disk);
  await back(others);
  if (failed) throw failed;
}

async function putBack(file: JournalFile, disk: RestoreDisk): Promise<void> {
  const now = await seen(file, disk).catch((error: unknown) => {
    // The restore has made no such thing; a file that cannot be read it may have written.
    if (error instanceof RestoreFault && error.problem === 'in_the_way') return undefined;
    throw error;
  });
  if (now === undefined || isAs(now, file.from) || !isAs(now, file.to)) return;
  if (file.from === null) {
    await disk.unlink(file.target);
    await removeEmpty(file, disk);
  } else {
    await makeFolders(file, disk);
    await disk.rename(old(file), file.target);
  }
}

function notPutBack(path: string, error: unknown): RestoreFault {
  const { problem, detail } = faultOf(path, error);
  const reasons: Partial<Record<RestoreProblem, string>> = {
    disk_full: english('the disk is full'),
    linked: english('a link is in the way ({0})', detail),
    in_the_way: english('something else is in the way ({0})', detail),
  };
  return new RestoreFault(path, 'not_put_back', reasons[problem] ?? (detail || errorText(error)));
}

/** Rejects when the file is not as before. */
async function checkUnchanged(file: JournalFile, disk: RestoreDisk): Promise<void> {
  if (!isAs(await told(file, seen(file, disk)), file.from)) throw new RestoreFault(file.path, 'changed');
}

async function stage(
  files: readonly FileRestore[],
  { files: planned, stages }: Journal,
  disk: RestoreDisk,
  signal: AbortSignal | undefined,
  onProgress: RestoreOptions['onProgress'],
): Promise<void> {
  for (const folder of stages) {
    await told(planned[0]!, disk.mkdir(folder));
    // Whoever runs `git add` at this moment does not add it.
    await told(planned[0]!, disk.writeNew(join(folder, '.gitignore'), Buffer.from('*\n'), 0o600));
  }
  for (const [i, file] of planned.entries()) {
    signal?.throwIfAborted();
    onProgress?.(i, planned.length);
    const { to } = files[i]!;
    if (to?.kind === 'link') await told(file, disk.symlink(Buffer.from(to.content).toString(), staged(file)));
    else if (to) await told(file, disk.writeNew(staged(file), to.content, modeOf(to.kind, file)));
    if (file.from !== null) await told(file, keepOld(file, disk));
  }
  signal?.throwIfAborted();
}

/** A second name takes no space, and no time for large files; not every file system has those. */
async function keepOld(file: JournalFile, disk: RestoreDisk): Promise<void> {
  await disk.link(file.target, old(file)).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOSPC' || error.code === 'EDQUOT') throw error;
    if (file.from?.kind === 'link') return disk.symlink(await disk.readlink(file.target), old(file));
    return disk.writeNew(old(file), await disk.readFile(file.target), file.mode ?? 0o644);
  });
}

/** Where a file goes, when nothing stands against it. Nothing is followed: each folder on its way has to be one. */
async function checked(
  { root, path, from, to }: FileRestore,
  { real, id, n, going }: { readonly real: string; readonly id: string; readonly n: number; readonly going: ReadonlySet<string> },
  disk: RestoreDisk,
): Promise<JournalFile> {
  const names = path.split('/');
  if (!isRestorable(path)) throw new RestoreFault(path, 'failed', english('it does not lead to a file of the workspace'));
  const target = join(real, ...names);
  // Where nothing is renamed to another disk: the highest folder on its way that is on the same one.
  let base = real;
  let device = (await disk.lstat(real)).dev;
  let isFree = false;
  for (let depth = 1; depth < names.length; depth++) {
    const folder = join(real, ...names.slice(0, depth));
    const found = await orMissing(disk.lstat(folder), path);
    if (!found) break;
    // A file or a link that goes in the same restore: there is nothing behind it then.
    isFree = !found.isDirectory() && going.has(`${root}\0${names.slice(0, depth).join('/')}`);
    if (isFree) break;
    if (found.isSymbolicLink()) throw new RestoreFault(path, 'linked', relative(real, folder));
    if (!found.isDirectory()) throw new RestoreFault(path, 'in_the_way', relative(real, folder));
    if (await orMissing(disk.lstat(join(folder, '.git')), path)) throw new RestoreFault(path, 'nested_repository', relative(real, folder));
    if (found.dev !== device) [base, device] = [folder, found.dev];
  }
  const here = isFree ? null : await orMissing(disk.lstat(target), path);
  if (here && !here.isSymbolicLink() && process.getuid !== undefined && (here.mode & 0o222) === 0)
    throw new RestoreFault(path, 'read_only');
  const now = await told({ path }, seen({ root: real, path, target }, disk));
  if (!isAs(now, from)) throw new RestoreFault(path, 'changed');
  const wanted = to && { hash: contentHash(to.content), kind: to.kind };
  const was = from && { hash: from.hash, kind: from.kind };
  const stageFolder = join(base, `.threadkeeper-restore-${id}`);
  return { root: real, path, target, stage: stageFolder, n, from: was, to: wanted, mode: here?.isFile() ? here.mode & 0o777 : null };
}

async function makeFolders({ root, target, path }: JournalFile, disk: RestoreDisk): Promise<void> {
  const names = relative(root, dirname(target)).split(sep);
  for (let depth = 1; depth <= names.length; depth++) {
    const folder = join(root, ...names.slice(0, depth));
    const found = await orMissing(disk.lstat(folder), path);
    if (!found) await told({ path }, disk.mkdir(folder));
    else if (found.isSymbolicLink()) throw new RestoreFault(path, 'linked', folder);
    else if (!found.isDirectory()) throw new RestoreFault(path, 'in_the_way', folder);
  }
}

/** As Git does: a folder without files is none. */
async function removeEmpty({ root, target }: JournalFile, disk: RestoreDisk): Promise<void> {
  for (let folder = dirname(target); folder !== root && folder.startsWith(root + sep); folder = dirname(folder)) {
    const isGone = await disk.rmdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
    if (!isGone) return;
  }
}

/** What stands there, as it is compared; a folder counts as nothing, and so does what a link on the way leads to. */
async function seen(file: Pick<JournalFile, 'root' | 'path' | 'target'>, disk: RestoreDisk): Promise<JournalFile['from']> {
  const { path, target } = file;
  const found = await orMissing(disk.lstat(target), path);
  if (!found || found.isDirectory() || (await isBehindLink(file, disk))) return null;
  if (found.isSymbolicLink()) return { hash: contentHash(Buffer.from(await disk.readlink(target))), kind: 'link' };
  if (!found.isFile()) throw new RestoreFault(path, 'in_the_way');
  if (await isOtherName(target, disk)) return null;
  return { hash: contentHash(await disk.readFile(target)), kind: kindOf(found.mode) };
}

async function isBehindLink({ root, path }: Pick<JournalFile, 'root' | 'path'>, disk: RestoreDisk): Promise<boolean> {
  const names = path.split('/');
  for (let depth = 1; depth < names.length; depth++)
    if ((await orMissing(disk.lstat(join(root, ...names.slice(0, depth))), path))?.isSymbolicLink()) return true;
  return false;
}

/** Where names that differ in case only are one, another name than was asked for may have answered. */
async function isOtherName(path: string, disk: RestoreDisk): Promise<boolean> {
  if (process.platform !== 'win32' && process.platform !== 'darwin') return false;
  const name = path.slice(dirname(path).length).replace(/^[\\/]/, '');
  const names = await disk.readdir(dirname(path));
  return !names.includes(name) && names.some((other) => other.toLowerCase() === name.toLowerCase());
}

async function orMissing<T>(found: Promise<T>, path: string): Promise<T | null> {
  return found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw faultOf(path, error);
  });
}

function told<T>({ path }: { readonly path: string }, work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => Promise.reject(faultOf(path, error)));
}

function faultOf(path: string, error: unknown): RestoreFault {
  if (error instanceof RestoreFault) return error;
  const { code, syscall } = error as NodeJS.ErrnoException;
  // Node says the path behind the name of the call.
  const message = syscall === undefined ? errorText(error) : errorText(error).split(`, ${syscall}`)[0]!;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new RestoreFault(path, 'disk_full');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EBUSY':
      return new RestoreFault(path, 'read_only', message);
    case 'ENOTEMPTY':
    case 'EEXIST':
    case 'EISDIR':
    case 'ENOTDIR':
      return new RestoreFault(path, 'in_the_way', message);
    default:
      return new RestoreFault(path, 'failed', message);
  }
}

function isAs(now: JournalFile['from'], then: JournalFile['from']): boolean {
  return now === null || then === null ? now === then : now.hash === then.hash && now.kind === then.kind;
}

function staged({ stage: folder, n }: JournalFile): string {
  return join(folder, `${n}.new`);
}

function old({ stage: folder, n }: JournalFile): string {
  return join(folder, `${n}.old`);
}

/**
 * Who may read and write it stays as it is; only whether it may be run is recorded. A file that comes back gets what this process gives to
 * new files, and one that may hold secrets is for its owner alone: it may have been so before.
 */
function modeOf(kind: FileVersion['kind'], { path, mode: before }: Pick<JournalFile, 'path' | 'mode'>): number {
  const mode = before ?? (looksSecret(path) ? 0o600 : 0o666 & ~process.umask());
  return kind === 'executable' ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** Why it was not restored, for the user. */
export function restoreProblemText(error: unknown): string {
  if (!(error instanceof RestoreFault)) return errorText(error);
  const { path, problem, detail } = error;
  switch (problem) {
    case 'changed':
      return t('{0} has changed meanwhile. No file was restored; try again.', path);
    case 'read_only':
      return t('{0} cannot be written: it is read-only or in use. No file was restored.', path);
    case 'disk_full':
      return t('The disk is full. No file was restored.');
    case 'linked':
      return t('A link on the way to {0} leads to another place. No file was restored.', path);
    case 'nested_repository':
      return t('{0} lies in a repository of its own. No file was restored.', path);
    case 'in_the_way':
      return t('Something that is no file is in the way of {0}. No file was restored.', path);
    case 'failed':
      return t('{0} could not be restored, and so no file was: {1}', path, shown(detail));
    case 'not_put_back':
      return t(
        'The restore failed, and {0} could not be put back: {1}. Threadkeeper tries that again at its next start, and before the next restore.',
        path,
        shown(detail),
      );
  }
}
