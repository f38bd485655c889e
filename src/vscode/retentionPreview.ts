import { window } from 'vscode';
import type { PurgePreview } from '../core/session/purgePreview';
import type { Session } from '../core/session/session';
import { timeText } from '../core/recall/dateText';
import { purgeText } from './purgeText';
import { messagesText, sessionsText, sessionTitle } from './sessionText';

/** Asks first whether the user wants to look: a list that opens by itself takes the keyboard away. */
export async function askForRetention(days: number, due: readonly Session[], preview: PurgePreview): Promise<readonly Session[] | undefined> {
  const show = 'Show What Goes';
  const have = due.length === 1 ? 'has' : 'have';
  const answer = await window.showInformationMessage(`${sessionsText(due)} ${have} been in the trash for more than ${days} ${days === 1 ? 'day' : 'days'}. Your settings say that they are deleted then.`, show, 'Not Today');
  if (answer !== show) return undefined;
  const picked = await window.showQuickPick(
    due.map((session) => ({ label: sessionTitle(session), description: `${session.id} · ${messagesText(session)}`, detail: `in the trash since ${timeText(session.deletedAt ?? 0)}`, picked: true, session })),
    { title: 'Delete for Good', placeHolder: `${purgeText(preview)} Uncheck what is to stay.`, canPickMany: true, ignoreFocusOut: true },
  );
  return picked?.map(({ session }) => session);
}
