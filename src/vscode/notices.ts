import { window } from 'vscode';
import type { PolicyProblem } from '../core/context/policy/resolvePolicy';
import { shown, t } from '../core/l10n';

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
      ? t('Another window has deleted the session that was open here for good. Your next message begins a new session.')
      : t('Another window has deleted “{0}”, which was open here, for good. Your next message begins a new session.', title),
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
