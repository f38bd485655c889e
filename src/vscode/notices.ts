import { window } from 'vscode';
import type { PolicyProblem } from '../core/context/resolvePolicy';

/** A line in the status bar, where a wrong number does not deserve a dialog; the meter's tooltip keeps saying it. */
export function showSettingProblem({ setting, message }: PolicyProblem): void {
  window.setStatusBarMessage(`$(warning) ${setting}: ${message}`, 15_000);
}

export function showKeyStorageBroken(text: string): void {
  void window.showWarningMessage(text);
}
