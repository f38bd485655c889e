import { window, workspace, commands, env } from 'vscode';
import type { PolicyProblem } from '../core/context/policy/resolvePolicy';
import { shown, t } from '../core/l10n';
import { readFile } from 'node:fs/promises';
import { isEphemeral } from '../node/store/client/ephemeralStorage';
import { commandIds } from './manifest';

/** A line in the status bar, where a wrong number does not deserve a dialog; the meter's tooltip keeps saying it. */
export function showSettingProblem({ setting, message }: PolicyProblem): void {
  window.setStatusBarMessage(`$(warning) ${setting}: ${shown(message)}`, 15_000);
}

export function showKeyStorageBroken(text: string): void {
  void window.showWarningMessage(text);
}

export function showSessionDeleted(title: string): void {
  void window.showInformationMessage(
    title === ''
      ? t('Another window permanently deleted the session that was open here. Your next message starts a new session.')
      : t('Another window permanently deleted “{0}”, which was open here. Your next message starts a new session.', title),
  );
}

/** Before an undo that restores more than the model takes. */
export async function confirmUndo(question: string): Promise<boolean> {
  const undo = t('Undo Anyway');
  return (await window.showWarningMessage(question, undo)) === undo;
}

/** Modal: the turn waits for it, and it is the user who wanted to be asked. */
export async function askBudget(spent: number, budget: number): Promise<boolean> {
  const goOn = t('Go On');
  const question = t("Today's requests have cost ${0}; your budget is ${1} a day. Go on?", spent.toFixed(2), budget.toFixed(2));
  return (
    (await window.showWarningMessage(
      question,
      { modal: true, detail: t('You are asked again after another ${0}. The setting is threadkeeper.budget.perDay.', budget.toFixed(2)) },
      goOn,
    )) === goOn
  );
}

/** A text of the program's own, in an editor of its own. */
export async function showText(content: string, language: string): Promise<void> {
  await window.showTextDocument(await workspace.openTextDocument({ content, language }), { preview: true });
}

const containers: ReadonlySet<string> = new Set(['dev-container', 'attached-container', 'codespaces', 'k8s-container']);

/** Says, once for each place, that a history in a container without a volume goes when the container is built anew. */
export async function warnOfEphemeralStorage(
  folder: string,
  wasTold: (folder: string) => boolean,
  told: (folder: string) => Promise<void>,
): Promise<void> {
  if (!containers.has(env.remoteName ?? '') || wasTold(folder)) return;
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  if (!isEphemeral(folder, mounts)) return;
  await told(folder);
  const backUp = t('Back Up History…');
  const text = t(
    'This history is kept inside the container ({0}) and is gone when the container is rebuilt. Mount a volume there, or back it up before you rebuild.',
    folder,
  );
  if ((await window.showWarningMessage(text, backUp)) === backUp) await commands.executeCommand(commandIds.backUpHistory);
}
