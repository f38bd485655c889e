import { CancelledError } from '../errors';
import { globMatcher } from './glob';
import { gitIgnoreOf } from './located';
import { looksSecret } from './secretFiles';
import type { ToolWorkspace } from './toolWorkspace';
import { placeName, type Place } from './workspacePath';

export interface FoundFile {
  readonly place: Place;
  readonly name: string;
}

export interface WalkResult {
  /** False when there are more files than are looked at. */
  readonly complete: boolean;
  /** Files that were passed over because Git ignores them or they look secret; an ignored folder counts once. */
  readonly leftOut: number;
}

/** Files and folders that one walk looks at. */
const mostItems = 60_000;

/**
 * Every file below `start` that neither Git ignores nor the user excludes and that does not look secret, in order of their paths.
 * Links are not followed, so that nothing outside of the workspace is ever met. `visit` returns false to end the walk.
 */
export async function walkFiles(workspace: ToolWorkspace, start: Place, visit: (file: FoundFile) => Promise<boolean>, signal: AbortSignal): Promise<WalkResult> {
  const { folders } = workspace;
  const excluded = workspace.excludes.map((pattern) => globMatcher(pattern));
  const ignore = gitIgnoreOf(workspace, start.folder);
  let items = 0;
  let leftOut = 0;
  if ((await workspace.stat(start))?.kind === 'file') {
    await visit({ place: start, name: placeName(start, folders) });
    return { complete: true, leftOut };
  }
  const open: string[] = [start.path];
  while (open.length > 0) {
    if (signal.aborted) throw new CancelledError();
    const folder = open.pop()!;
    const found = [...(await workspace.list({ folder: start.folder, path: folder }).catch(() => []))].sort((a, b) => (a.name < b.name ? -1 : 1));
    const deeper: string[] = [];
    for (const { name, kind } of found) {
      if (++items > mostItems) return { complete: false, leftOut };
      const path = folder === '' ? name : `${folder}/${name}`;
      const isFolder = kind === 'folder';
      if ((!isFolder && kind !== 'file') || name === '.git' || excluded.some((matches) => matches(path))) continue;
      if (looksSecret(path) || (await ignore.ignoresOne(path.split('/'), isFolder))) {
        leftOut++;
        continue;
      }
      if (isFolder) deeper.push(path);
      else if (!(await visit({ place: { folder: start.folder, path }, name: placeName({ folder: start.folder, path }, folders) }))) return { complete: true, leftOut };
    }
    open.push(...deeper.reverse());
  }
  return { complete: true, leftOut };
}

/** The places a search begins at: one folder, or all of them. */
export function searchRoots(workspace: ToolWorkspace, place: Place | null): Place[] {
  return place ? [place] : workspace.folders.map((_, folder) => ({ folder, path: '' }));
}
