import { stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { normalizeRemote } from '../../node/workspaces/workspaceRegistry';
import { gitRemote } from '../history/gitRemote';

/** The repository that a folder lies in and where in it, the same on every machine: `github.com/me/tides/api`; null where there is none. */
export async function gitPlace(folder: string): Promise<string | null> {
  for (let at = folder; ; at = dirname(at)) {
    const isRoot = await stat(join(at, '.git')).then(
      () => true,
      () => false,
    );
    if (isRoot) {
      const remote = await gitRemote(at);
      if (remote === undefined) return null;
      return [normalizeRemote(remote), ...relative(at, folder).split(sep)].filter((part) => part !== '').join('/');
    }
    if (dirname(at) === at) return null;
  }
}
