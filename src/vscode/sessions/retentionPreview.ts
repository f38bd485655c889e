import { window } from 'vscode';
import { t } from '../../core/l10n';
import { lastUsed } from '../../core/maintenance/cleanUp';
import type { PurgePreview } from '../../core/maintenance/reports';
import type { Session } from '../../core/session/session';
import { timeText } from '../../core/recall/dateText';
import { plainLabel } from '../plainText';
import { messagesText, sessionsText, sessionTitle, purgeText } from './sessionText';

/** Asks first whether the user wants to look: a list that opens by itself takes the keyboard away. */
export async function askForRetention(
  days: number,
  due: readonly Session[],
  preview: PurgePreview,
): Promise<readonly Session[] | undefined> {
  if (!(await wantsToLook(retentionText(due, days)))) return undefined;
  return pick(due, {
    title: t('Delete Permanently'),
    placeHolder: `${purgeText(preview)} ${t('Uncheck what is to stay.')}`,
    detail: (session) => t('in the trash since {0}', timeText(session.deletedAt ?? 0)),
  });
}

export async function askForCleanUp(days: number, due: readonly Session[]): Promise<readonly Session[] | undefined> {
  const age = daysText(days);
  const text = t(
    due.length === 1
      ? '{0} has not been used for more than {1}. Your settings say that such sessions go to the trash.'
      : '{0} have not been used for more than {1}. Your settings say that such sessions go to the trash.',
    sessionsText(due),
    age,
  );
  return (await wantsToLook(text)) ? pickCleanUp(due) : undefined;
}

/** What would go to the trash, for the user to choose from. Undefined when it was closed. */
export function pickCleanUp(due: readonly Session[]): Promise<readonly Session[] | undefined> {
  return pick(due, {
    title: t('Clean Up Sessions'),
    placeHolder: t('These go to the trash, from where they can be restored. Uncheck what is to stay.'),
    detail: (session) => t('last used {0}', timeText(lastUsed(session))),
  });
}

async function wantsToLook(text: string): Promise<boolean> {
  const show = t('Show What Goes');
  return (await window.showInformationMessage(text, show, t('Not Today'))) === show;
}

async function pick(
  due: readonly Session[],
  { title, placeHolder, detail }: { readonly title: string; readonly placeHolder: string; readonly detail: (session: Session) => string },
): Promise<readonly Session[] | undefined> {
  const items = due.map((session) => ({
    label: plainLabel(sessionTitle(session)),
    description: `${session.id} · ${messagesText(session)}`,
    detail: detail(session),
    picked: true,
    session,
  }));
  const picked = await window.showQuickPick(items, { title, placeHolder, canPickMany: true, ignoreFocusOut: true });
  return picked?.map(({ session }) => session);
}

function daysText(days: number): string {
  return t(days === 1 ? '{0} day' : '{0} days', days);
}

function retentionText(due: readonly Session[], days: number): string {
  return t(
    due.length === 1
      ? '{0} has been in the trash for more than {1}. Your settings say that they are deleted then.'
      : '{0} have been in the trash for more than {1}. Your settings say that they are deleted then.',
    sessionsText(due),
    daysText(days),
  );
}
