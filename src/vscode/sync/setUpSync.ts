import { randomUUID } from 'node:crypto';
import { basename } from 'node:path';
import { env, ProgressLocation, window, type QuickPickItem } from 'vscode';
import { errorText } from '../../core/errors';
import { shown, t } from '../../core/l10n';
import type { Logger, SessionStore } from '../../core/ports';
import { EngineError } from '../../core/sync/syncEngine';
import type { SyncSetup } from '../../core/sync/syncStore';
import { HistoryDirectory, type ListedHistory } from '../../node/sync/historyDirectory';
import { historyKeys, newPhrase, PhraseError, phraseOf, readPhrase } from '../../node/sync/historyKeys';
import { isDatabase, openEngine } from '../../node/sync/openEngine';
import { ago } from '../../protocol/figures';
import { settingKey } from '../settingsValues';
import { addressProblem, hasPassword, isUsable } from './engineAddresses';
import { gitPlace } from './gitPlace';
import type { SyncSecrets } from './syncSecrets';
import { adviceFor, engineName } from './syncTexts';

export interface SetUpDeps {
  readonly store: () => Promise<SessionStore>;
  readonly secrets: SyncSecrets;
  /** Folder of the workspace on this disk; null: none. */
  readonly folder: string | null;
  /** Where the bundles lie. */
  readonly distDir: string;
  /** What other devices call this one. */
  readonly deviceName: () => string;
  /** The address that was used last on this machine; empty: none. */
  readonly lastAddress: () => string;
  readonly saveAddress: (address: string) => Promise<void>;
  readonly now: () => number;
  readonly log: Logger;
}

interface Choice<T> extends QuickPickItem {
  readonly value: T;
}

/** What was set up; null: the user has changed their mind, and nothing was changed here. */
export async function setUpSync(deps: SetUpDeps): Promise<SyncSetup | null> {
  const store = await deps.store();
  const known = await store.syncSetup();
  const address = known ? known.engine : await askAddress(deps.lastAddress());
  if (address === null) return null;
  const password = isDatabase(address) ? await askPassword(address, (await deps.secrets.password(address)) ?? '') : '';
  if (password === null) return null;
  const phrase = await askPhrase((await deps.secrets.lastKey()) ?? null, known !== null);
  if (phrase === null) return null;
  const access = { bundles: deps.distDir, ...(password === '' ? {} : { password }) };
  // The rights to read and write are tried, and a wrong phrase is refused, before anything is changed here.
  const directory = await tried(address, () => HistoryDirectory.open(address, phrase.entropy, { ...access, create: phrase.mayBegin }));
  if (directory === null) return null;
  try {
    const { histories } = await directory.list();
    const history = known
      ? { name: known.name, label: known.name, at: 0, isNew: false }
      : await chooseHistory(deps, histories, phrase.isNew);
    if (history === null) return null;
    const keys = historyKeys(phrase.entropy, history.name);
    if (known && known.history !== keys.history) throw new Error(t('This is the recovery phrase of another history.'));
    const device = randomUUID();
    const opened = await tried(address, async () => {
      const { isNew, ...line } = history;
      if (isNew) await directory.noteHistory(line);
      await directory.noteDevice({
        history: keys.history,
        device: known ? (await store.syncHeld()).device : device,
        name: deps.deviceName(),
        at: deps.now(),
      });
      const engine = await openEngine(address, { ...access, history: keys.history, create: isNew });
      await engine.close();
      return true;
    });
    if (opened === null) return null;
    const setup = { history: keys.history, name: history.name, engine: address };
    await deps.secrets.save(setup, deps.folder, phrase.entropy, password);
    await store.startSync(device, setup);
    // It is set up by now, whether or not the settings can be written.
    await deps.saveAddress(address).catch((error: unknown) => deps.log.warn('sync_address_not_saved', { detail: errorText(error) }));
    return setup;
  } finally {
    await directory.close().catch(() => undefined);
  }
}

async function askAddress(kept: string): Promise<string | null> {
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
    placeHolder: t('Where do your machines meet? What is kept there is sealed: nobody can read it without your recovery phrase.'),
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

async function askPassword(address: string, known: string): Promise<string | null> {
  const typed = await window.showInputBox({
    title: t('Set Up Sync'),
    prompt: t('Password for {0}. Leave it empty if the server asks for none.', engineName(address)),
    password: true,
    value: known,
    ignoreFocusOut: true,
  });
  return typed ?? null;
}

interface Phrase {
  readonly entropy: Uint8Array;
  /** It was made now. */
  readonly isNew: boolean;
  /** Histories may begin under it that are not there. */
  readonly mayBegin: boolean;
}

async function askPhrase(last: Uint8Array | null, isKnown: boolean): Promise<Phrase | null> {
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
  if (picked.value === 'last') return { entropy: last!, isNew: false, mayBegin: true };
  if (picked.value === 'new') {
    const phrase = newPhrase();
    return (await showPhrase(phrase, true)) ? { entropy: readPhrase(phrase), isNew: true, mayBegin: true } : null;
  }
  const typed = await window.showInputBox({
    title: t('Set Up Sync'),
    prompt: t('The 24 words of the recovery phrase, in their order.'),
    ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? undefined : phraseProblem(text)),
  });
  return typed === undefined || typed.trim() === '' ? null : { entropy: readPhrase(typed), isNew: false, mayBegin: false };
}

/** Undefined: it is one. */
export function phraseProblem(text: string): string | undefined {
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

export function phraseFor(entropy: Uint8Array): string {
  return phraseOf(entropy);
}

async function chooseHistory(
  { folder, now }: Pick<SetUpDeps, 'folder' | 'now'>,
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

/** Tries until it works or the user gives up: then null. */
async function tried<T>(address: string, work: () => Promise<T>): Promise<T | null> {
  for (;;) {
    try {
      const title = t('Checking {0}…', engineName(address));
      return await window.withProgress({ location: ProgressLocation.Notification, title }, work);
    } catch (error) {
      if (!EngineError.is(error)) throw error;
      const again = t('Try Again');
      const detail = adviceFor(error.reason);
      if ((await window.showErrorMessage(shown(errorText(error)), { modal: true, detail }, again)) !== again) return null;
    }
  }
}
