import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mostIgnoreBytes } from '../../core/tools/guard/gitIgnore';
import type { IgnoresAbove } from '../../core/tools/toolWorkspace';
import { findRepository } from '../rewind/gitRepository';

/** Git's rules outside of a folder that hold in it; null where it lies in no repository. The user's own `core.excludesFile` is not read. */
export async function ignoresAbove(root: string): Promise<IgnoresAbove | null> {
  const found = await findRepository(root).catch(() => null);
  if (!found) return null;
  const prefix = found.prefix.split('/').filter((name) => name !== '');
  const places = [
    { depth: 0, path: join(found.commonDir, 'info', 'exclude') },
    ...prefix.map((_, depth) => ({ depth, path: join(found.top, ...prefix.slice(0, depth), '.gitignore') })),
  ];
  const files = await Promise.all(places.map(async ({ depth, path }) => ({ depth, text: await textOf(path) })));
  return { prefix, files: files.flatMap(({ depth, text }) => (text === undefined ? [] : [{ depth, text }])) };
}

/** Null for one that is too large. */
async function textOf(path: string): Promise<string | null | undefined> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return undefined;
    return found.size > mostIgnoreBytes ? null : await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}
