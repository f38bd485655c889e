import { t } from '../l10n';
import { GitIgnore } from './ignoreRules';
import { looksSecret } from './secretFiles';
import { ToolFault, type ApprovalQuestion } from './tool';
import type { ToolWorkspace } from './toolWorkspace';
import { placeName, toPlace, type Place } from './workspacePath';

/** A path of a call, followed to where it really is. */
export interface Located {
  readonly place: Place;
  /** As the model and the user know it. */
  readonly name: string;
  /** Why each call is asked about, in words; null when nothing is special about it. */
  readonly sensitive: string | null;
}

/** Rejects with `ToolFault` for whatever is not in the workspace. Asked again right before every use: links can change meanwhile. */
export async function locate(workspace: ToolWorkspace, given: string): Promise<Located> {
  const { folders } = workspace;
  const asked = toPlace(given, folders);
  const place = await workspace.real(asked);
  if (!place) throw new ToolFault(`${JSON.stringify(given)} leads outside of the workspace through a link. Only files in its folders can be used.`);
  return { place, name: placeName(asked, folders), sensitive: (await sensitivity(workspace, asked)) ?? (await sensitivity(workspace, place)) };
}

/** Of a read: nobody is asked about what is neither ignored nor looks like a secret, unless the user wants to be. */
export function readQuestion(title: string, { sensitive }: Pick<Located, 'sensitive'>): ApprovalQuestion {
  return { kind: 'read', title, detail: sensitive, everyTime: sensitive !== null, change: null };
}

export function gitIgnoreOf(workspace: ToolWorkspace, folder: number): GitIgnore {
  return new GitIgnore(async (path) => {
    try {
      const place = await workspace.real({ folder, path });
      if (!place || (await workspace.stat(place))?.kind !== 'file') return undefined;
      return new TextDecoder().decode(await workspace.read(place));
    } catch {
      return undefined;
    }
  });
}

async function sensitivity(workspace: ToolWorkspace, { folder, path }: Place): Promise<string | null> {
  if (looksSecret(path)) return t('This looks like a file that holds secrets. Its content would be sent to the model.');
  const ignore = gitIgnoreOf(workspace, folder);
  const ignored = path !== '' && ((await ignore.ignores(path, false)) || (await ignore.ignores(path, true)));
  return ignored ? t('Git ignores this file.') : null;
}
