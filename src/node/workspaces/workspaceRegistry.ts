import { trimmedEnd } from '../../core/base/text';
import { readdir, readFile, stat, chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createEntry,
  entryFile,
  entryName,
  normalizeUris,
  parseEntry,
  readEntry,
  registryDir,
  replaceEntry,
  folderIdentities,
  type KnownWorkspace,
} from './workspaceEntry';
import { findPredecessor, isTakenOver, relinkCandidates, type OpenedWorkspace, type RelinkCandidate } from './predecessor';

export interface ResolveOptions {
  /** Global storage of the extension. */
  readonly globalDir: string;
  /** The workspace storage VS Code offers; undefined when no folder is open. */
  readonly candidateDir: string | undefined;
  /** They stand in the order of the window. */
  readonly workspaceUris: readonly string[];
  /** URL of the repository's remote, if any. Credentials in it are not kept. */
  readonly remote?: string | undefined;
  readonly now?: () => number;
}

export interface ResolvedFolder {
  readonly folder: string;
  /** When this workspace first used the folder, in milliseconds. */
  readonly knownSince: number;
  /**
   * `new`: nothing was known. `workspace`: used before. `moved`: its folders, or its repository, were at another place before.
   * `grown`: folders were added to a workspace that was used before, whose sessions it shares.
   */
  readonly found: 'new' | 'workspace' | 'moved' | 'grown';
  /** Other workspaces that share a folder or the remote with this one and keep their sessions elsewhere. */
  readonly related: readonly KnownWorkspace[];
}

/**
 * Where a workspace keeps its sessions: the first folder it ever used. VS Code itself gives a second extension host on the
 * same workspace, and a renamed workspace, another storage folder, and the history would seem gone. One small file per
 * workspace, linked into place complete, so that of two windows that start at once the second follows the first; an entry
 * that cannot be read is renamed aside. Rejects with the file system's error when global storage cannot be written.
 */
export async function resolveStoreFolder(options: ResolveOptions): Promise<ResolvedFolder> {
  const now = options.now?.() ?? Date.now();
  const opened = await describeOpened(options);
  const { uris, remote, identities } = opened;
  const registry = registryDir(options.globalDir);
  await privateFolder(registry);

  const file = entryFile(options.globalDir, uris);
  const known = await readEntry(file, now);
  const others = await othersThan(options.globalDir, uris);
  const isOwn = known !== undefined && (await isThere(known.folder)) && !(await isTakenOver(known, others));
  if (isOwn) {
    await privateFolder(known.folder);
    await replaceEntry(file, { ...known, lastUsed: now, remote: remote ?? known.remote, ...(identities ? { identities } : {}) });
    return { folder: known.folder, knownSince: known.firstUsed, found: 'workspace', related: related(others, known) };
  }

  const predecessor = uris.length === 0 ? undefined : await findPredecessor(opened, others);
  const fallback = join(options.globalDir, uris.length === 0 ? 'store' : `store-${entryName(uris).slice(0, 16)}`);
  // Where its folder is again what it was called before it moved, VS Code offers the storage that went with it.
  const offered = others.some(({ folder }) => folder === options.candidateDir) ? undefined : options.candidateDir;
  const wanted: KnownWorkspace = {
    version: 1,
    workspaceUris: uris,
    remote,
    folder: predecessor?.entry.folder ?? offered ?? fallback,
    firstUsed: predecessor?.entry.firstUsed ?? now,
    lastUsed: now,
    sessionCount: predecessor?.entry.sessionCount ?? null,
    ...(identities ? { identities } : {}),
    ...(predecessor?.how === 'moved' ? { movedFrom: predecessor.entry.workspaceUris } : {}),
  };
  // Before the entry names it: a second window takes an entry whose folder is missing for outdated.
  await privateFolder(wanted.folder);
  // A known folder that is gone takes its entry with it; otherwise whoever links first decides.
  const entry = known ? (await replaceEntry(file, wanted), wanted) : await createEntry(file, wanted, now);
  const found = entry.folder !== wanted.folder ? 'workspace' : predecessor ? predecessor.how : 'new';
  return { folder: entry.folder, knownSince: entry.firstUsed, found, related: related(others, entry) };
}

/** Every workspace that has ever used a store, most recent first. Entries that cannot be read are left out. */
export async function listKnownWorkspaces(globalDir: string): Promise<KnownWorkspace[]> {
  const registry = registryDir(globalDir);
  const names = await readdir(registry).catch(() => []);
  const contents = await Promise.all(
    names.filter((name) => name.endsWith('.json')).map((name) => readFile(join(registry, name), 'utf8').catch(() => '')),
  );
  return contents.flatMap((content) => parseEntry(content) ?? []).sort((a, b) => b.lastUsed - a.lastUsed);
}

/** Remembers how many sessions a workspace has, for lists across workspaces. Does nothing for an unknown one. */
export async function noteSessionCount(globalDir: string, workspaceUris: readonly string[], sessionCount: number): Promise<void> {
  const file = entryFile(globalDir, normalizeUris(workspaceUris));
  const known = parseEntry(await readFile(file, 'utf8').catch(() => ''));
  if (known && known.sessionCount !== sessionCount) await replaceEntry(file, { ...known, sessionCount });
}

/** Resolves with the workspaces whose history could be that of this one, which has been resolved before. */
export async function findRelinkCandidates(options: ResolveOptions): Promise<RelinkCandidate[]> {
  const opened = await describeOpened(options);
  const own = await readEntry(entryFile(options.globalDir, opened.uris), options.now?.() ?? Date.now());
  return relinkCandidates(opened, own, await othersThan(options.globalDir, opened.uris));
}

/**
 * From the next start on the workspace keeps its sessions in the folder of that candidate. Nothing is merged, moved or deleted;
 * where they were until now becomes a candidate itself. Rejects with the file system's error, and then nothing has changed.
 */
export async function relinkWorkspace(options: ResolveOptions, { entry, reason, gone }: RelinkCandidate): Promise<void> {
  const uris = normalizeUris(options.workspaceUris);
  const file = entryFile(options.globalDir, uris);
  const own = await readEntry(file, options.now?.() ?? Date.now());
  if (!own) throw new Error('This workspace has no history yet that could be linked.');
  const { movedFrom: _, ...kept } = own;
  const takesOver = reason !== 'previous' && gone;
  await replaceEntry(file, {
    ...kept,
    folder: entry.folder,
    previousFolder: own.folder,
    previousSessionCount: own.sessionCount,
    sessionCount: entry.sessionCount,
    ...(takesOver ? { movedFrom: entry.workspaceUris } : {}),
  });
}

/** `host/path` of a git remote, whichever way it is written; never with user name, password or query. */
export function normalizeRemote(remote: string): string {
  const trimmed = remote.trim();
  const [, scpHost, scpPath] = /^(?:[^@/\s]+@)?([^:/\s]+):(?!\/\/)(.+)$/.exec(trimmed) ?? [];
  let place = trimmed;
  if (scpHost !== undefined && scpPath !== undefined && !/^[a-z]$/i.test(scpHost)) place = `${scpHost.toLowerCase()}/${scpPath}`;
  else if (trimmed.includes('://') && URL.canParse(trimmed)) {
    const url = new URL(trimmed);
    place = `${url.host.toLowerCase()}${url.pathname}`;
  }
  return place
    .replace(/\/+/g, '/')
    .replace(/\/$/, '')
    .replace(/\.git$/, '');
}

async function describeOpened({ workspaceUris, remote }: ResolveOptions): Promise<OpenedWorkspace> {
  const uris = normalizeUris(workspaceUris);
  return {
    uris,
    first: trimmedEnd(workspaceUris[0] ?? '', /\//),
    remote: remote === undefined ? null : normalizeRemote(remote),
    identities: await folderIdentities(uris),
  };
}

async function othersThan(globalDir: string, uris: readonly string[]): Promise<KnownWorkspace[]> {
  const own = entryName(uris);
  return (await listKnownWorkspaces(globalDir)).filter(({ workspaceUris }) => entryName(workspaceUris) !== own);
}

function related(others: readonly KnownWorkspace[], entry: KnownWorkspace): KnownWorkspace[] {
  return others.filter(
    (other) =>
      other.folder !== entry.folder &&
      ((entry.remote !== null && other.remote === entry.remote) || other.workspaceUris.some((uri) => entry.workspaceUris.includes(uri))),
  );
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * Makes a folder that only the user can enter, and makes one that is there such a folder: older versions made them for everybody. Only for
 * folders that are the program's own; one that a user has named may be shared. Windows has no modes: there the folder above decides.
 * Rejects with the file system's error when the folder cannot be made.
 */
async function privateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Somebody else's, or a file system without modes: nothing is lost by leaving it.
  await chmod(folder, 0o700).catch(() => undefined);
}
