import { window } from 'vscode';
import { t } from '../core/l10n';
import type { PurgePreview } from '../core/session/purgePreview';
import type { Session } from '../core/session/session';
import { timeText } from '../core/recall/dateText';
import { plainLabel } from './plainLabel';
import { purgeText } from './purgeText';
import { messagesText, sessionsText, sessionTitle } from './sessionText';

/** Asks first whether the user wants to look: a list that opens by itself takes the keyboard away. */
export async function askForRetention(days: number, due: readonly Session[], preview: PurgePreview): Promise<readonly Session[] | undefined> {
  const show = t('Show What Goes');
  const answer = await window.showInformationMessage(retentionText(due, days), show, t('Not Today'));
  if (answer !== show) return undefined;
  const picked = await window.showQuickPick(
    due.map((session) => ({ label: plainLabel(sessionTitle(session)), description: `${session.id} · ${messagesText(session)}`, detail: t('in the trash since {0}', timeText(session.deletedAt ?? 0)), picked: true, session })),
    { title: t('Delete for Good'), placeHolder: `${purgeText(preview)} ${t('Uncheck what is to stay.')}`, canPickMany: true, ignoreFocusOut: true },
  );
  return picked?.map(({ session }) => session);
}

function retentionText(due: readonly Session[], days: number): string {
  const [sessions, age] = [sessionsText(due), t(days === 1 ? '{0} day' : '{0} days', days)];
  return t(due.length === 1 ? '{0} has been in the trash for more than {1}. Your settings say that they are deleted then.' : '{0} have been in the trash for more than {1}. Your settings say that they are deleted then.', sessions, age);
}
