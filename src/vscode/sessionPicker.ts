import { window, type QuickPickItem } from 'vscode';
import { t } from '../core/l10n';
import type { ViewSnapshot } from '../protocol/messages';
import { plainLabel } from './plainLabel';
import { parseTags } from './sessionText';

interface Item extends QuickPickItem {
  readonly uuid: string;
}

/** Undefined when the user has closed the list. */
export async function pickSession(sessions: ViewSnapshot['sessions'], current: string | undefined): Promise<string | undefined> {
  const items = sessions.map(
    ({ uuid, id, title, updatedAt }): Item => ({ uuid, label: `${uuid === current ? '$(check) ' : ''}${plainLabel(title) || t('Untitled')}`, description: `${id} · ${new Date(updatedAt).toLocaleString()}` }),
  );
  const picked = await window.showQuickPick(items, { title: t('Switch Session'), placeHolder: t('Title, id or date'), matchOnDescription: true });
  return picked?.uuid;
}

/** Undefined when the user has left the title as it is. */
export async function askForTitle(title: string): Promise<string | undefined> {
  const answer = await window.showInputBox({ title: t('Rename Session'), value: title, prompt: t('A title for this session'), validateInput: (value) => (value.trim() === '' ? t('A title has at least one character.') : undefined) });
  const name = answer?.trim();
  return name === undefined || name === '' || name === title ? undefined : name;
}

/** Undefined when the user has left the tags as they are. */
export async function askForTags(tags: readonly string[]): Promise<string[] | undefined> {
  const answer = await window.showInputBox({ title: t('Edit Tags'), value: tags.join(', '), prompt: t('Tags, separated by commas; the Sessions view filters by them as #tag'), placeHolder: t('work, tide tables') });
  const edited = answer === undefined ? undefined : parseTags(answer);
  return edited === undefined || edited.join() === tags.join() ? undefined : edited;
}
