import { readFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';

/** Address of the repository's remote (`origin`, else the first), read from its files; undefined where there is none. */
export async function gitRemote(folder: string): Promise<string | undefined> {
  const config = await readFile(join(await gitFolder(folder), 'config'), 'utf8').catch(() => '');
  const remotes = new Map<string, string>();
  let section: string | undefined;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\[([^\]]+)\]/.exec(line.trim())?.[1];
    if (header !== undefined) section = /^remote\s+"(.+)"$/.exec(header.trim())?.[1];
    const url = /^url\s*=(.*)$/.exec(line.trim())?.[1]?.trim();
    if (section !== undefined && url && !remotes.has(section)) remotes.set(section, url);
  }
  return remotes.get('origin') ?? [...remotes.values()][0];
}

/** In a worktree `.git` is a file that names a folder, which names the one with the configuration. */
async function gitFolder(folder: string): Promise<string> {
  const git = join(folder, '.git');
  const named = /^gitdir:(.*)$/m.exec(await readFile(git, 'utf8').catch(() => ''))?.[1]?.trim();
  if (!named) return git;
  const worktree = isAbsolute(named) ? named : resolve(folder, named);
  const common = (await readFile(join(worktree, 'commondir'), 'utf8').catch(() => '')).trim();
  return common === '' ? worktree : resolve(worktree, common);
}
