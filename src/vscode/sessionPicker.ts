import { window, type QuickPickItem } from 'vscode';
import type { ViewSnapshot } from '../protocol/messages';
import { parseTags } from './sessionText';

interface Item extends QuickPickItem {
  readonly uuid: string;
}

/** Undefined when the user has closed the list. */
export async function pickSession(sessions: ViewSnapshot['sessions'], current: string | undefined): Promise<string | undefined> {
  const items = sessions.map(
    ({ uuid, id, title, updatedAt }): Item => ({ uuid, label: `${uuid === current ? '$(check) ' : ''}${title || 'Untitled'}`, description: `${id} · ${new Date(updatedAt).toLocaleString()}` }),
  );
  const picked = await window.showQuickPick(items, { title: 'Switch Session', placeHolder: 'Title, id or date', matchOnDescription: true });
  return picked?.uuid;
}

/** Undefined when the user has left the title as it is. */
export async function askForTitle(title: string): Promise<string | undefined> {
  const answer = await window.showInputBox({ title: 'Rename Session', value: title, prompt: 'A title for this session', validateInput: (value) => (value.trim() === '' ? 'A title has at least one character.' : undefined) });
  const name = answer?.trim();
  return name === undefined || name === '' || name === title ? undefined : name;
}

/** Undefined when the user has left the tags as they are. */
export async function askForTags(tags: readonly string[]): Promise<string[] | undefined> {
  const answer = await window.showInputBox({ title: 'Edit Tags', value: tags.join(', '), prompt: 'Tags, separated by commas; the Sessions view filters by them as #tag', placeHolder: 'work, tide tables' });
  const edited = answer === undefined ? undefined : parseTags(answer);
  return edited === undefined || edited.join() === tags.join() ? undefined : edited;
}
