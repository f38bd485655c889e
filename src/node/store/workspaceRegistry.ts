import { createHash, randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';

const Entry = z.object({
  version: z.literal(1),
  /** Sorted; empty for a window without a folder. */
  workspaceUris: z.array(z.string()),
  remote: z.nullable(z.string()),
  folder: z.string(),
  firstUsed: z.number(),
  lastUsed: z.number(),
  sessionCount: z.nullable(z.number()),
});
/** What is remembered of one workspace. */
export type KnownWorkspace = z.infer<typeof Entry>;

export interface ResolveOptions {
  /** Global storage of the extension. */
  readonly globalDir: string;
  /** The workspace storage VS Code offers; undefined when no folder is open. */
  readonly candidateDir: string | undefined;
  readonly workspaceUris: readonly string[];
  /** URL of the repository's remote, if any. Credentials in it are not kept. */
  readonly remote?: string | undefined;
  readonly now?: () => number;
}

export interface ResolvedFolder {
  readonly folder: string;
  /** When this workspace first used the folder, in milliseconds. */
  readonly knownSince: number;
  /** `new`: nothing was known. `workspace`: used before. `moved`: the repository was found at another place before. */
  readonly found: 'new' | 'workspace' | 'moved';
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
  const uris = normalizeUris(options.workspaceUris);
  const remote = options.remote === undefined ? null : normalizeRemote(options.remote);
  const registry = registryDir(options.globalDir);
  await mkdir(registry, { recursive: true });

  const file = join(registry, entryName(uris));
  const known = await readEntry(file, now);
  const others = (await listKnownWorkspaces(options.globalDir)).filter((entry) => entryName(entry.workspaceUris) !== entryName(uris));
  if (known && (await isThere(known.folder))) {
    await replaceEntry(file, { ...known, lastUsed: now, remote: remote ?? known.remote });
    return { folder: known.folder, knownSince: known.firstUsed, found: 'workspace', related: related(others, known) };
  }

  const predecessor = remote === null || uris.length === 0 ? undefined : await movedFrom(others, remote);
  const fallback = join(options.globalDir, uris.length === 0 ? 'store' : `store-${entryName(uris).slice(0, 16)}`);
  const wanted: KnownWorkspace = {
    version: 1,
    workspaceUris: uris,
    remote,
    folder: predecessor?.folder ?? options.candidateDir ?? fallback,
    firstUsed: predecessor?.firstUsed ?? now,
    lastUsed: now,
    sessionCount: predecessor?.sessionCount ?? null,
  };
  // Before the entry names it: a second window takes an entry whose folder is missing for outdated.
  await mkdir(wanted.folder, { recursive: true });
  // A known folder that is gone takes its entry with it; otherwise whoever links first decides.
  const entry = known ? (await replaceEntry(file, wanted), wanted) : await createEntry(file, wanted, now);
  const found = entry.folder !== wanted.folder ? 'workspace' : predecessor ? 'moved' : 'new';
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
  const file = join(registryDir(globalDir), entryName(normalizeUris(workspaceUris)));
  const known = parseEntry(await readFile(file, 'utf8').catch(() => ''));
  if (known) await replaceEntry(file, { ...known, sessionCount });
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
  return place.replace(/\/+/g, '/').replace(/\/$/, '').replace(/\.git$/, '');
}

/** The entry of the same repository at a place that no longer exists: a rename, where another clone would still be there. */
async function movedFrom(others: readonly KnownWorkspace[], remote: string): Promise<KnownWorkspace | undefined> {
  for (const other of others) {
    if (other.remote !== remote || other.workspaceUris.length === 0 || !(await isThere(other.folder))) continue;
    const places = await Promise.all(other.workspaceUris.map(isGone));
    if (places.every((gone) => gone)) return other;
  }
  return undefined;
}

function related(others: readonly KnownWorkspace[], entry: KnownWorkspace): KnownWorkspace[] {
  return others.filter(
    (other) =>
      other.folder !== entry.folder &&
      ((entry.remote !== null && other.remote === entry.remote) || other.workspaceUris.some((uri) => entry.workspaceUris.includes(uri))),
  );
}

function registryDir(globalDir: string): string {
  return join(globalDir, 'workspaces');
}

function normalizeUris(uris: readonly string[]): string[] {
  return [...new Set(uris.map((uri) => uri.replace(/\/+$/, '')))].sort();
}

function entryName(uris: readonly string[]): string {
  return `${createHash('sha256').update(uris.join('\n')).digest('hex').slice(0, 40)}.json`;
}

/** Undefined when there is none. One that stays unreadable is renamed aside: it may be all that leads to a store. */
async function readEntry(file: string, now: number): Promise<KnownWorkspace | undefined> {
  for (let attempt = 0; ; attempt++) {
    let content: string;
    try {
      content = await readFile(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const entry = parseEntry(content);
    if (entry) return entry;
    if (attempt === 3) break;
    // Without hard links another window's entry may be seen half-written.
    await sleep(20);
  }
  await rename(file, `${file}.unreadable-${now}`);
  return undefined;
}

function parseEntry(content: string): KnownWorkspace | undefined {
  try {
    return Entry.parse(JSON.parse(content));
  } catch {
    return undefined;
  }
}

/** The entry that is there afterwards: this one, or that of another window which was first. */
async function createEntry(file: string, entry: KnownWorkspace, now: number): Promise<KnownWorkspace> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, JSON.stringify(entry), { flag: 'wx', mode: 0o600, flush: true });
  try {
    await link(temporary, file);
    return entry;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'EEXIST') {
      // No hard links here.
      const created = await writeFile(file, JSON.stringify(entry), { flag: 'wx', mode: 0o600, flush: true }).then(
        () => true,
        (failure: NodeJS.ErrnoException) => {
          if (failure.code === 'EEXIST') return false;
          throw failure;
        },
      );
      if (created) return entry;
    }
    return (await readEntry(file, now)) ?? entry;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function replaceEntry(file: string, entry: KnownWorkspace): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, JSON.stringify(entry), { flag: 'wx', mode: 0o600, flush: true });
  try {
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Only a place on this machine that is verifiably absent counts as gone. */
async function isGone(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return false;
  try {
    await stat(fileURLToPath(uri));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
