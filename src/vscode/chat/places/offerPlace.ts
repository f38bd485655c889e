import { commands, window } from 'vscode';
import { t } from '../../../core/l10n';
import { chatViewId } from '../../manifest';
import type { WindowState } from '../windowState';

/**
 * Asks once on each machine, at the first run: something can answer now, and nothing has been said yet. The extension cannot put its
 * view there by itself: VS Code asks for the place.
 */
export async function offerPlace(memory: Pick<WindowState, 'placeOffered' | 'setPlaceOffered'>, sessions: number): Promise<void> {
  if (sessions > 0 || memory.placeOffered()) return;
  await memory.setPlaceOffered();
  const move = t('Move Chat…');
  const text = t('Keep the chat on the right and your sessions on the left? Choose “New Secondary Side Bar Entry” in the list.');
  if ((await window.showInformationMessage(text, move, t('Not Now'))) === move)
    await commands.executeCommand('workbench.action.moveFocusedView', chatViewId);
}
