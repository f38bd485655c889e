import { window, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import { isSessionKey, type SessionSort, sessionSorts } from '../../core/session/session';
import type { ViewSnapshot } from '../../protocol/messages';
import { plainLabel } from '../plainText';
import { parseTags, sortTexts } from './sessionText';

interface Item extends QuickPickItem {
  readonly uuid: string;
}

/** Undefined when the user has closed the list. */
export async function pickSession(
  sessions: ViewSnapshot['sessions'],
  current: string | undefined,
  title = t('Switch Session'),
): Promise<string | undefined> {
  const items = sessions.map(
    ({ uuid, id, title, updatedAt }): Item => ({
      uuid,
      label: `${uuid === current ? '$(check) ' : ''}${plainLabel(title) || t('Untitled')}`,
      description: `${id} · ${new Date(updatedAt).toLocaleString()}`,
    }),
  );
  const picked = await window.showQuickPick(items, { title, placeHolder: t('Title, id or date'), matchOnDescription: true });
  return picked?.uuid;
}

/** Undefined when the user has left the title as it is. */
export async function askForTitle(title: string): Promise<string | undefined> {
  const answer = await window.showInputBox({
    title: t('Rename Session'),
    value: title,
    prompt: t('A title for this session'),
    validateInput: (value) => (value.trim() === '' ? t('A title has at least one character.') : undefined),
  });
  const name = answer?.trim();
  return name === undefined || name === '' || name === title ? undefined : name;
}

/** Undefined when the user has left the tags as they are. */
export async function askForTags(tags: readonly string[]): Promise<string[] | undefined> {
  const answer = await window.showInputBox({
    title: t('Edit Tags'),
    value: tags.join(', '),
    prompt: t('Tags, separated by commas; the Sessions view filters by them as #tag'),
    placeHolder: t('work, tide tables'),
  });
  const edited = answer === undefined ? undefined : parseTags(answer);
  return edited === undefined || edited.join() === tags.join() ? undefined : edited;
}

/** Undefined when it was closed. */
export async function askForKey(): Promise<string | undefined> {
  const validateInput = (value: string) =>
    isSessionKey(value.trim()) ? undefined : t('A key is channel:chat, for example telegram:123456.');
  const answer = await window.showInputBox({
    title: t('Open Session by Key'),
    prompt: t('The session with this key; a new one begins where there is none.'),
    placeHolder: 'telegram:123456',
    validateInput,
  });
  return answer?.trim();
}

/** Undefined when it was closed. */
export async function pickSort(current: SessionSort): Promise<SessionSort | undefined> {
  const labels: Readonly<Record<SessionSort, string>> = {
    updated: t('Last Used'),
    created: t('Created'),
    title: t('Title'),
    tokens: t('Tokens'),
    cost: t('Cost'),
  };
  const items = sessionSorts.map((sort) => ({
    label: `${sort === current ? '$(check) ' : ''}${labels[sort]}`,
    description: sortTexts[sort](),
    sort,
  }));
  return (await window.showQuickPick(items, { title: t('Sort Sessions'), placeHolder: t('Pinned sessions stay on top') }))?.sort;
}

const usualDays = 90;

/** Undefined when it was closed. */
export async function askForDays(days: number): Promise<number | undefined> {
  const validateInput = (value: string) =>
    /^\d+$/.test(value.trim()) && Number(value) > 0 ? undefined : t('A whole number of days above 0.');
  const answer = await window.showInputBox({
    title: t('Clean Up Sessions'),
    value: String(days > 0 ? days : usualDays),
    prompt: t('Sessions that have not been used for more than so many days. You see which before anything is moved to the trash.'),
    validateInput,
  });
  return answer === undefined ? undefined : Number(answer);
}
