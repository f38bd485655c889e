import { CancelledError } from '../../errors';
import { globMatcher } from './glob';
import { gitIgnoreOf } from './located';
import { looksSecret } from './secretFiles';
import type { ToolWorkspace } from '../toolWorkspace';
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
/** Items between two moments in which everything else may run: hostile rules take 10 ms for each. */
const itemsBetweenPauses = 8;

/**
 * Every file below `start` that neither Git ignores nor the user excludes and that does not look secret, those nearest to it first: all
 * that is ever looked into without being asked for by name. Links are not followed, so that nothing outside of the workspace is ever met.
 * `visit` returns false to end the walk.
 */
export async function walkFiles(
  workspace: ToolWorkspace,
  start: Place,
  visit: (file: FoundFile) => Promise<boolean> | boolean,
  signal: AbortSignal,
  alsoExcluded: readonly string[] = [],
): Promise<WalkResult> {
  const { folders } = workspace;
  const excluded = [...workspace.excludes, ...alsoExcluded].map((pattern) => globMatcher(pattern));
  const ignore = gitIgnoreOf(workspace, start.folder);
  let items = 0;
  let leftOut = 0;
  if ((await workspace.stat(start))?.kind === 'file') {
    await visit({ place: start, name: placeName(start, folders) });
    return { complete: true, leftOut };
  }
  let open: string[] = [start.path];
  while (open.length > 0) {
    const deeper: string[] = [];
    for (const folder of open) {
      if (signal.aborted) throw new CancelledError();
      const found = [...(await workspace.list({ folder: start.folder, path: folder }).catch(() => []))].sort((a, b) =>
        a.name < b.name ? -1 : 1,
      );
      for (const { name, kind } of found) {
        if (++items > mostItems) return { complete: false, leftOut };
        if (items % itemsBetweenPauses === 0) {
          await workspace.pause();
          if (signal.aborted) throw new CancelledError();
        }
        const path = folder === '' ? name : `${folder}/${name}`;
        const isFolder = kind === 'folder';
        if ((!isFolder && kind !== 'file') || name === '.git' || excluded.some((matches) => matches(path))) continue;
        if (looksSecret(path, isFolder) || (await ignore.ignoresOne(path.split('/'), isFolder))) {
          leftOut++;
          continue;
        }
        const place = { folder: start.folder, path };
        if (isFolder) deeper.push(path);
        else if (!(await visit({ place, name: placeName(place, folders) }))) return { complete: true, leftOut };
      }
    }
    open = deeper;
  }
  return { complete: true, leftOut };
}

/** The places a search begins at: one folder, or all of them. */
export function searchRoots(workspace: ToolWorkspace, place: Place | null): Place[] {
  return place ? [place] : workspace.folders.map((_, folder) => ({ folder, path: '' }));
}
