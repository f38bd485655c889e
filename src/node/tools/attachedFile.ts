import { realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { looksSecret } from '../../core/tools/guard/secretFiles';
import type { ToolWorkspace } from '../../core/tools/toolWorkspace';
import { placeName, type Place } from '../../core/tools/guard/workspacePath';

export interface AttachedFile {
  /** Where it is; null: outside of the workspace. */
  readonly place: Place | null;
  /** What a link leads to that the user did not name: outside, or a secret. They are asked before it is read. */
  readonly target: string | null;
}

/** Follows what the user wants to attach. What they named themselves is not asked about again. */
export async function attachedFile(workspace: Pick<ToolWorkspace, 'real' | 'folders'>, asked: Place): Promise<AttachedFile> {
  const { folders } = workspace;
  const place = await workspace.real(asked);
  if (place) return { place, target: looksSecret(place.path) && !looksSecret(asked.path) ? placeName(place, folders) : null };
  const path = join(folders[asked.folder]?.root ?? '', ...asked.path.split('/'));
  return { place, target: await realpath(path).catch(() => path) };
}

/** The path of an address that was dropped: `/ws/../.ssh/id_rsa` begins with a folder of the workspace and does not lie in it. */
export function plainPath(path: string): string {
  return posix.normalize(path.replaceAll('\\', '/'));
}
