import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { env, window, type QuickPickItem } from 'vscode';
import { shown, t } from '../../core/l10n';
import type { ListedHistory } from '../../node/sync/historyDirectory';
import { newPhrase, PhraseError, phraseOf, readPhrase } from '../../node/sync/historyKeys';
import { isDatabase } from '../../node/sync/openEngine';
import { ago } from '../../protocol/figures';
import { settingKey } from '../settingsValues';
import { addressProblem, hasPassword, isUsable } from './engineAddresses';
import { gitPlace } from './gitPlace';
import { engineName } from './syncTexts';

interface Choice<T> extends QuickPickItem {
  readonly value: T;
}

/** What was answered before, or used last, is offered first. Null: none was chosen, as with every question here. */
export async function askAddress(kept: string): Promise<string | null> {
  if (hasPassword(kept))
    throw new Error(t('Take the password out of the setting {0}: you are asked for it here.', settingKey('sync.address')));
  const last = (await isUsable(kept)) ? kept : '';
  const choices: Choice<'last' | 'folder' | 'database'>[] = [
    ...(last === ''
      ? []
      : [{ label: `$(history) ${engineName(last)}`, description: t('used last on this machine'), value: 'last' as const }]),
    {
      label: `$(folder) ${t('A Folder…')}`,
      detail: t('That Syncthing, a network drive or a cloud drive carries to your other machines.'),
      value: 'folder',
    },
    {
      label: `$(database) ${t('A PostgreSQL Database…')}`,
      detail: t('A server of your own, a hosted one, or another database of this wire protocol.'),
      value: 'database',
    },
  ];
  const picked = await window.showQuickPick(choices, {
    title: t('Set Up Sync'),
    placeHolder: t('Where do your machines meet? What is kept there is sealed.'),
    ignoreFocusOut: true,
  });
  if (!picked) return null;
  if (picked.value === 'last') return last;
  if (picked.value === 'folder') {
    const [folder] =
      (await window.showOpenDialog({
        canSelectFiles: false,
        canSelectFolders: true,
        openLabel: t('Use This Folder'),
        title: t('Set Up Sync'),
      })) ?? [];
    return folder ? folder.fsPath : null;
  }
  const typed = await window.showInputBox({
    title: t('Set Up Sync'),
    prompt: t('Address of the database. You are asked for the password next; it is kept in your keyring.'),
    placeHolder: 'postgres://keeper@db.example.org:5432/keeper',
    value: isDatabase(last) ? last : '',
    ignoreFocusOut: true,
    validateInput: (text) => addressProblem(text.trim()),
  });
  return typed?.trim() || null;
}

export async function askPassword(address: string, known: string): Promise<string | null> {
  const typed = await window.showInputBox({
    title: t('Set Up Sync'),
    prompt: t('Password for {0}. Leave it empty if the server asks for none.', engineName(address)),
    password: true,
    value: known,
    ignoreFocusOut: true,
  });
  return typed ?? null;
}

export interface Phrase {
  readonly entropy: Uint8Array;
  /** It was made now. */
  readonly isNew: boolean;
  /** Histories may begin under it that are not there. */
  readonly mayBegin: boolean;
  /** It need not be asked for again. */
  readonly isSettled: boolean;
}

/** `last`: used last on this machine. `before`: what was entered a moment ago. */
export async function askPhrase(last: Uint8Array | null, isKnown: boolean, before: Uint8Array | undefined): Promise<Phrase | null> {
  const choices: Choice<'last' | 'new' | 'typed'>[] = [
    ...(last && !isKnown ? [{ label: `$(key) ${t('Use the Recovery Phrase of This Machine')}`, value: 'last' as const }] : []),
    { label: `$(edit) ${t('Enter a Recovery Phrase…')}`, detail: t('From another machine with this history.'), value: 'typed' },
    ...(isKnown
      ? []
      : [
          {
            label: `$(add) ${t('Make a New Recovery Phrase')}`,
            detail: t('For your first machine. Write it down when you see it.'),
            value: 'new' as const,
          },
        ]),
  ];
  const picked = await window.showQuickPick(choices, {
    title: t('Set Up Sync'),
    placeHolder: t('Whoever has the recovery phrase can read the history. Without it nobody can.'),
    ignoreFocusOut: true,
  });
  if (!picked) return null;
  if (picked.value === 'last') return { entropy: last!, isNew: false, mayBegin: true, isSettled: true };
  if (picked.value === 'new') {
    const phrase = newPhrase();
    return (await showPhrase(phrase, true)) ? { entropy: readPhrase(phrase), isNew: true, mayBegin: true, isSettled: true } : null;
  }
  const typed = await window.showInputBox({
    title: t('Set Up Sync'),
    prompt: t('The 24 words of the recovery phrase, in their order.'),
    value: before ? phraseOf(before) : '',
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? undefined : phraseProblem(text)),
  });
  return typed === undefined || typed.trim() === '' ? null : { entropy: readPhrase(typed), isNew: false, mayBegin: false, isSettled: true };
}

/** Undefined: it is one. */
function phraseProblem(text: string): string | undefined {
  try {
    readPhrase(text);
    return undefined;
  } catch (error) {
    if (error instanceof PhraseError) return shown(error.message);
    throw error;
  }
}

/** Shows the words until the user says that they have them. False: they do not go on. */
export async function showPhrase(phrase: string, isNew: boolean): Promise<boolean> {
  const copy = t('Copy');
  const done = isNew ? t('I Have Written It Down') : t('Done');
  const words = phrase.split(' ').map((word, index) => `${index + 1}. ${word}`);
  const rows = Array.from({ length: 6 }, (_, row) => words.slice(row * 4, row * 4 + 4).join('   '));
  const warning = isNew
    ? t('Write it down and keep it where you keep keys: whoever has it can read your history, and without it nobody can, not even you.')
    : t('Whoever has it can read your history. Type it on the other device and leave it nowhere else.');
  for (;;) {
    const answer = await window.showInformationMessage(
      t('Your recovery phrase'),
      { modal: true, detail: `${rows.join('\n')}\n\n${warning}` },
      done,
      copy,
    );
    if (answer !== copy) return answer === done;
    await env.clipboard.writeText(phrase);
  }
}

/** The history of this repository, where there is one; else the user chooses. */
export async function chooseHistory(
  { folder, now }: { readonly folder: string | null; readonly now: () => number },
  histories: readonly ListedHistory[],
  isNewPhrase: boolean,
): Promise<(ListedHistory & { readonly isNew: boolean }) | null> {
  const place = folder === null ? null : await gitPlace(folder);
  const same = histories.find(({ name }) => name === place);
  if (same) return { ...same, isNew: false };
  const label = folder === null ? t('No folder') : basename(folder);
  const isTaken = (name: string) => histories.some((one) => one.name === name);
  const plain = folder === null ? 'windows' : label;
  const free = [plain, ...Array.from({ length: 99 }, (_, n) => `${plain} ${n + 2}`)].find((name) => !isTaken(name)) ?? randomUUID();
  const begun = { name: place ?? free, label, at: now(), isNew: true };
  if (isNewPhrase || histories.length === 0) return begun;
  const picked = await window.showQuickPick<Choice<ListedHistory & { readonly isNew: boolean }>>(
    [
      ...histories.map((one) => ({
        label: one.label,
        description: one.name === one.label ? '' : one.name,
        detail: t('begun {0}', ago(one.at, now())),
        value: { ...one, isNew: false },
      })),
      { label: `$(add) ${t('Begin a history for {0}', label)}`, value: begun },
    ],
    { title: t('Set Up Sync'), placeHolder: t('Which history belongs to this workspace?'), ignoreFocusOut: true, matchOnDescription: true },
  );
  return picked?.value ?? null;
}
