import { commands, window } from 'vscode';
import { t } from '../../core/l10n';
import type { RelinkCandidate } from '../../node/workspaces/predecessor';
import { placeOf, relinkPick } from './knownPlaces';

export interface RelinkDeps {
  readonly candidates: () => Promise<RelinkCandidate[]>;
  readonly relink: (candidate: RelinkCandidate) => Promise<void>;
  /** Ends what runs and closes the store, so that nothing is written there any more. */
  readonly close: () => Promise<void>;
  /** What was open here belongs to the history that is left. */
  readonly forgetLastSession: () => Promise<void>;
  readonly now: () => number;
  readonly tell: (text: string) => void;
}

/** Lets the user say whose history this workspace has, and takes it back the same way. Nothing is merged or deleted. */
export async function relinkHistory({ candidates, relink, close, forgetLastSession, now, tell }: RelinkDeps): Promise<void> {
  const found = await candidates();
  if (found.length === 0) return tell(t('No other workspace on this machine has a history.'));
  const picked = await window.showQuickPick(
    found.map((candidate) => relinkPick(candidate, now())),
    {
      title: t('Relink History'),
      placeHolder: t('Which history belongs to this workspace? The likeliest comes first.'),
      matchOnDescription: true,
      matchOnDetail: true,
    },
  );
  if (!picked || !(await confirmed(picked.candidate))) return;
  await relink(picked.candidate);
  await forgetLastSession();
  await close();
  await commands.executeCommand('workbench.action.reloadWindow');
}

async function confirmed({ entry, reason, gone }: RelinkCandidate): Promise<boolean> {
  const { place } = placeOf(entry);
  const [question, detail] =
    reason === 'previous'
      ? [t('Take the link back?'), t('This workspace then has the history again that it had before it was linked.')]
      : [
          t('Use the history of {0} in this workspace?', place),
          gone ? t('What was said there is then listed here.') : t('That workspace still exists: both then share one history.'),
        ];
  const answer = t('Relink and Reload');
  const kept = t('Nothing is merged or deleted, and Relink History… takes it back. The window is reloaded.');
  return (await window.showWarningMessage(question, { modal: true, detail: `${detail} ${kept}` }, answer)) === answer;
}
