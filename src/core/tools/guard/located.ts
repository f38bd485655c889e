import { t } from '../../l10n';
import { ToolFault, type ApprovalQuestion, type FileChange } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';
import { placeName, toPlace, foldPath, type Place } from './workspacePath';
import type { EditGuard } from './guardedKinds';
import { GitIgnore, mostIgnoreBytes } from './gitIgnore';
import { looksSecret } from './secretFiles';

/** A path of a call, followed to where it really is. */
export interface Located {
  /** As it was asked for; `place` is where it is. */
  readonly asked: Place;
  readonly place: Place;
  /** As the model knows it. */
  readonly name: string;
  /** As the user is shown it: with what it leads to, when there is a link on its way. */
  readonly shown: string;
  readonly isLinked: boolean;
  /** Why each call is asked about, in words; null when nothing is special about it. */
  readonly sensitive: string | null;
}

/** Rejects with `ToolFault` for whatever is not in the workspace. Asked again right before every use: links can change meanwhile. */
export async function locate(workspace: ToolWorkspace, given: string): Promise<Located> {
  const { folders } = workspace;
  const asked = toPlace(given, folders);
  const place = await workspace.real(asked);
  if (!place)
    throw new ToolFault(`${JSON.stringify(given)} leads outside of the workspace through a link. Only files in its folders can be used.`);
  const name = placeName(asked, folders);
  const absolute = ({ folder, path }: Place) => foldPath(`${folders[folder]?.root ?? ''}/${path}`);
  const isLinked = absolute(asked) !== absolute(place);
  // Not folded: Git's rules know the case of letters.
  const isSame = asked.folder === place.folder && asked.path === place.path;
  const shown = isLinked ? t('{0} (a link leads to {1})', name, placeName(place, folders)) : name;
  return {
    asked,
    place,
    name,
    shown,
    isLinked,
    sensitive: (await sensitivity(workspace, asked)) ?? (isSame ? null : await sensitivity(workspace, place)),
  };
}

/** Nobody is asked about a read of what is neither ignored nor looks like a secret, unless the user wants to be. */
export function readQuestion(title: string, located: Pick<Located, 'sensitive'> | null): ApprovalQuestion {
  const detail = located?.sensitive ?? null;
  return { kind: 'read', title, detail, everyTime: detail !== null, change: null };
}

/** What executes or instructs is asked about every time, and so is what a link leads to. */
export function writeQuestion(
  title: string,
  { asked, place, name, isLinked, sensitive }: Located,
  guard: EditGuard,
  change: FileChange,
): ApprovalQuestion {
  const linked = isLinked ? t('A link leads to another file than the path says.') : null;
  const reasons = [guard(asked.path) ?? guard(place.path), linked, sensitive].filter((reason) => reason !== null);
  return {
    kind: 'write',
    title,
    detail: reasons.length === 0 ? null : reasons.join('\n'),
    everyTime: reasons.length > 0,
    permission: name,
    change,
  };
}

/** Throws when it is another question by now than the one that was answered: a link, or what Git ignores, has changed meanwhile. */
export function assertAsked(now: ApprovalQuestion, approved: ApprovalQuestion | null | undefined): void {
  if (!approved || (approved.title === now.title && approved.detail === now.detail)) return;
  throw new ToolFault('Where this path leads has changed while the user was being asked. Nothing was done. Ask again.');
}

export function gitIgnoreOf(workspace: ToolWorkspace, folder: number): GitIgnore {
  const read = async (path: string) => {
    try {
      const place = await workspace.real({ folder, path });
      const stat = place && (await workspace.stat(place));
      if (stat?.kind !== 'file') return undefined;
      return stat.bytes > mostIgnoreBytes ? null : new TextDecoder().decode(await workspace.read(place!));
    } catch {
      return undefined;
    }
  };
  return new GitIgnore(read, async () => (await workspace.ignoresAbove?.(folder)) ?? null);
}

async function sensitivity(workspace: ToolWorkspace, { folder, path }: Place): Promise<string | null> {
  if (looksSecret(path)) return t('This looks like a file that holds secrets. Its content would be sent to the model.');
  const ignore = gitIgnoreOf(workspace, folder);
  const ignored = path !== '' && ((await ignore.ignores(path, false)) || (await ignore.ignores(path, true)));
  return ignored ? t('Git ignores this file.') : null;
}
