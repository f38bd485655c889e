import { lstat, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { Place } from '../../core/tools/guard/workspacePath';

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
  for (const [index, one] of roots.entries()) {
    const inside = relative(await realpath(one).catch(() => one), real);
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
