import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

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
