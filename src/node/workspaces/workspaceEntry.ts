import { trimmedEnd } from '../../core/base/text';
import { createHash, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile, stat } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { patientRename } from '../runtime/patientRename';
import { fileURLToPath } from 'node:url';

const Entry = z.object({
  version: z.literal(1),
  /** Sorted; empty for a window without a folder. */
  workspaceUris: z.array(z.string()),
  remote: z.nullable(z.string()),
  folder: z.string(),
  firstUsed: z.number(),
  lastUsed: z.number(),
  sessionCount: z.nullable(z.number()),
  /** Sorted, one for each folder of the workspace; absent where they are not known (`folderIdentity`). */
  identities: z.optional(z.array(z.string())),
  /** The workspace whose folders were gone when this one took its sessions over. */
  movedFrom: z.optional(z.array(z.string())),
  /** Where its sessions were before the user linked it to those of another workspace. */
  previousFolder: z.optional(z.string()),
  previousSessionCount: z.optional(z.nullable(z.number())),
});
/** What is remembered of one workspace. */
export type KnownWorkspace = z.infer<typeof Entry>;

export function registryDir(globalDir: string): string {
  return join(globalDir, 'workspaces');
}

export function entryFile(globalDir: string, uris: readonly string[]): string {
  return join(registryDir(globalDir), entryName(uris));
}

/** One workspace, whatever the order of its folders. */
export function normalizeUris(uris: readonly string[]): string[] {
  return [...new Set(uris.map((uri) => trimmedEnd(uri, /\//)))].sort();
}

export function entryName(uris: readonly string[]): string {
  return `${createHash('sha256').update(uris.join('\n')).digest('hex').slice(0, 40)}.json`;
}

/** Undefined when there is none. One that stays unreadable is renamed aside: it may be all that leads to a store. */
export async function readEntry(file: string, now: number): Promise<KnownWorkspace | undefined> {
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
  await patientRename(file, `${file}.unreadable-${now}`);
  return undefined;
}

export function parseEntry(content: string): KnownWorkspace | undefined {
  try {
    return Entry.parse(JSON.parse(content));
  } catch {
    return undefined;
  }
}

/** The entry that is there afterwards: this one, or that of another window which was first. */
export async function createEntry(file: string, entry: KnownWorkspace, now: number): Promise<KnownWorkspace> {
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

export async function replaceEntry(file: string, entry: KnownWorkspace): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, JSON.stringify(entry), { flag: 'wx', mode: 0o600, flush: true });
  try {
    await patientRename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * What stays the same when a folder is renamed or moved within its file system, and differs for a copy or another clone: inode
 * and time of creation (an inode alone is used again after a deletion; the device number changes between boots). Undefined
 * where the file system does not tell.
 */
async function folderIdentity(uri: string): Promise<string | undefined> {
  if (!uri.startsWith('file:')) return undefined;
  try {
    const { ino, birthtimeNs } = await stat(fileURLToPath(uri), { bigint: true });
    return ino === 0n || birthtimeNs <= 0n ? undefined : `${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
}

/** Resolves with those of all folders of a workspace, sorted; undefined when one is not known. */
export async function folderIdentities(uris: readonly string[]): Promise<string[] | undefined> {
  const identities = await Promise.all(uris.map(folderIdentity));
  const known = identities.filter((identity) => identity !== undefined);
  return known.length === uris.length && known.length > 0 ? known.sort() : undefined;
}

/** Only a place on this machine that is verifiably absent counts as gone. */
export async function isGone(uri: string): Promise<boolean> {
  if (!uri.startsWith('file:')) return false;
  return isAbsent(fileURLToPath(uri));
}

/** Gone, while the folder it was in is still there: a disk that is not mounted takes that with it. */
export async function isGoneFromItsFolder(uri: string): Promise<boolean> {
  return (await isGone(uri)) && !(await isAbsent(dirname(fileURLToPath(uri))));
}

async function isAbsent(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
