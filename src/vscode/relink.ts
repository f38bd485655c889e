import { commands, window } from 'vscode';
import type { RelinkCandidate } from '../node/store/relinkCandidates';
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
  if (found.length === 0) return tell('No other workspace on this machine has a history.');
  const picked = await window.showQuickPick(
    found.map((candidate) => relinkPick(candidate, now())),
    { title: 'Relink History', placeHolder: 'Whose history is that of this workspace? The likeliest stands first.', matchOnDescription: true, matchOnDetail: true },
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
      ? ['Take the link back?', 'This workspace then has the history again that it had before it was linked.']
      : [
          `Use the history of ${place} in this workspace?`,
          gone ? 'What was said there is then listed here.' : 'That workspace still exists: both then share one history.',
        ];
  const answer = 'Relink and Reload';
  const kept = 'Nothing is merged or deleted, and Relink History… takes it back. The window is reloaded.';
  return (await window.showWarningMessage(question, { modal: true, detail: `${detail} ${kept}` }, answer)) === answer;
}
