import { readFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';

/** Address of the repository's remote (`origin`, else the first), read from its files; undefined where there is none. */
export async function gitRemote(folder: string): Promise<string | undefined> {
  const config = await readFile(join(await gitFolder(folder), 'config'), 'utf8').catch(() => '');
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[\s*(.+?)\s*\]/.exec(line);
    if (header) section = /^remote\s+"(.+)"$/.exec(header[1]!)?.[1];
    const url = /^\s*url\s*=\s*(.+?)\s*$/.exec(line)?.[1];
    if (section !== undefined && url !== undefined && !remotes.has(section)) remotes.set(section, url);
  }
  return remotes.get('origin') ?? [...remotes.values()][0];
}

/** In a worktree `.git` is a file that names a folder, which names the one with the configuration. */
async function gitFolder(folder: string): Promise<string> {
  const git = join(folder, '.git');
  const named = /^gitdir:\s*(.+?)\s*$/m.exec(await readFile(git, 'utf8').catch(() => ''))?.[1];
  if (named === undefined) return git;
  const worktree = isAbsolute(named) ? named : resolve(folder, named);
  const common = (await readFile(join(worktree, 'commondir'), 'utf8').catch(() => '')).trim();
  return common === '' ? worktree : resolve(worktree, common);
}
