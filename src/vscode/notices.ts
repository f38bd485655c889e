import { window } from 'vscode';
import type { PolicyProblem } from '../core/context/resolvePolicy';

/** A line in the status bar, where a wrong number does not deserve a dialog; the meter's tooltip keeps saying it. */
export function showSettingProblem({ setting, message }: PolicyProblem): void {
  window.setStatusBarMessage(`$(warning) ${setting}: ${message}`, 15_000);
}

export function showKeyStorageBroken(text: string): void {
  void window.showWarningMessage(text);
}

export function showSessionDeleted(title: string): void {
  void window.showInformationMessage(`Another window has deleted ${title === '' ? 'the session that was open here' : `“${title}”, which was open here,`} for good. Your next message begins a new session.`);
}

/** Before an undo that restores more than the model takes. */
export async function confirmUndo(question: string): Promise<boolean> {
  const undo = 'Undo Anyway';
  return (await window.showWarningMessage(question, undo)) === undo;
}

/** Modal: the turn waits for it, and it is the user who wanted to be asked. */
export async function askBudget(spent: number, budget: number): Promise<boolean> {
  const goOn = 'Go On';
  const question = `Today's requests have cost $${spent.toFixed(2)}; your budget is $${budget.toFixed(2)} a day. Go on?`;
  return (await window.showWarningMessage(question, { modal: true, detail: `You are asked again after another $${budget.toFixed(2)}. The setting is threadkeeper.budget.perDay.` }, goOn)) === goOn;
}
