import { createHash } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { looksSecret } from '../../core/tools/guard/secretFiles';
import type { WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import type { PinnedFiles } from '../../core/ports';

/** Larger files are no pins. */
const mostBytes = 256 * 1024;

/** Text files below the folders of a workspace. With several folders a path begins with the name of one; older pins have none there. */
export class WorkspacePins implements PinnedFiles {
  constructor(private readonly folders: () => readonly WorkspaceFolder[]) {}

  async read(path: string): Promise<{ readonly text: string; readonly hash: string } | undefined> {
    const folders = this.folders();
    const [first, ...rest] = path.split('/');
    const named = folders.length < 2 ? [] : folders.filter(({ name }) => name === first);
    const places = [...named.map((folder) => [folder, rest.join('/')] as const), ...folders.map((folder) => [folder, path] as const)];
    for (const [{ root, isOffDisk }, below] of places) {
      const found = isOffDisk ? undefined : await readInside(root, below).catch(() => undefined);
      if (found !== undefined) return { text: found, hash: createHash('sha256').update(found).digest('hex') };
    }
    return undefined;
  }
}

/** A text file by its path below the folder, links followed; undefined for any other. Rejects where there is none. */
export async function readInside(folder: string, path: string): Promise<string | undefined> {
  const file = await realpath(resolve(folder, path));
  const inside = relative(await realpath(folder), file);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return undefined;
  // A name that says nothing of a secret may be a link to one.
  if (looksSecret(inside.split(sep).join('/')) && !looksSecret(path)) return undefined;
  const { size } = await stat(file);
  if (size > mostBytes) return undefined;
  const text = await readFile(file, 'utf8');
  return text.includes('\0') ? undefined : text;
}
