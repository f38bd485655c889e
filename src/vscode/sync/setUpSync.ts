import { randomUUID } from 'node:crypto';
import { ProgressLocation, window } from 'vscode';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { Logger, SessionStore } from '../../core/ports';
import { EngineError } from '../../core/sync/syncEngine';
import type { SyncSetup } from '../../core/sync/syncStore';
import { HistoryDirectory, type ListedHistory } from '../../node/sync/historyDirectory';
import { historyKeys } from '../../node/sync/historyKeys';
import { isDatabase, openEngine } from '../../node/sync/openEngine';
import { askAddress, askPassword, askPhrase, chooseHistory, type Phrase } from './setUpQuestions';
import type { SyncSecrets } from './syncSecrets';
import { engineName, setUpFailure } from './syncTexts';

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

interface Answers {
  readonly address: string;
  /** Empty: the server asks for none. */
  readonly password: string;
  readonly phrase: Phrase;
}

/** What was tried, and what the user wants after it could not be done. */
type Tried<T> = { readonly value: T } | { readonly next: 'ask' | 'leave'; readonly isPhraseWrong: boolean };

/**
 * What was set up; null: the user has changed their mind, and nothing was changed here. Where it is set up already, its password can be
 * given anew.
 */
export async function setUpSync(deps: SetUpDeps): Promise<SyncSetup | null> {
  const known = await (await deps.store()).syncSetup();
  let before: Partial<Answers> = known ? await phraseOfKnown(deps, known) : {};
  for (;;) {
    const answers = await ask(deps, known, before);
    if (answers === null) return null;
    const tried = await tryOut(deps, known, answers);
    if ('value' in tried) return tried.value;
    if (tried.next === 'leave') return null;
    before = tried.isPhraseWrong ? { ...answers, phrase: { ...answers.phrase, isSettled: false } } : answers;
  }
}

/** It need not be asked for where it is on this machine. */
async function phraseOfKnown({ secrets }: SetUpDeps, { history }: SyncSetup): Promise<Partial<Answers>> {
  const entropy = await secrets.key(history);
  return entropy ? { phrase: { entropy, isNew: false, mayBegin: false, isSettled: true } } : {};
}

/** Asks again what may have been wrong, with what was answered before. */
async function ask(deps: SetUpDeps, known: SyncSetup | null, before: Partial<Answers>): Promise<Answers | null> {
  const address = known ? known.engine : await askAddress(before.address ?? deps.lastAddress());
  if (address === null) return null;
  const kept = (address === before.address ? before.password : undefined) ?? (await deps.secrets.password(address)) ?? '';
  const password = isDatabase(address) ? await askPassword(address, kept) : '';
  if (password === null) return null;
  const phrase = before.phrase?.isSettled
    ? before.phrase
    : await askPhrase((await deps.secrets.lastKey()) ?? null, known !== null, before.phrase?.entropy);
  return phrase && { address, password, phrase };
}

/** The rights to read and write are tried, and a wrong phrase is refused, before anything is changed here. */
async function tryOut(deps: SetUpDeps, known: SyncSetup | null, { address, password, phrase }: Answers): Promise<Tried<SyncSetup | null>> {
  const store = await deps.store();
  const access = { bundles: deps.distDir, ...(password === '' ? {} : { password }) };
  const found = await tried(address, () => HistoryDirectory.open(address, phrase.entropy, { ...access, create: phrase.mayBegin }));
  if (!('value' in found)) return found;
  const directory = found.value;
  try {
    const listed = await tried(address, () => directory.list());
    if (!('value' in listed)) return listed;
    const history = known
      ? { name: known.name, label: known.name, at: 0, isNew: false }
      : await chooseHistory(deps, listed.value.histories, phrase.isNew);
    if (history === null) return { value: null };
    const keys = historyKeys(phrase.entropy, history.name);
    if (known && known.history !== keys.history)
      throw new Error(t('This is the recovery phrase of another history. Enter that of “{0}”, or leave sync first.', known.name));
    const device = known ? (await store.syncHeld()).device : randomUUID();
    const opened = await tried(address, () => begin(deps, directory, history, { history: keys.history, device }, { address, access }));
    if (!('value' in opened)) return opened;
    const setup = { history: keys.history, name: history.name, engine: address };
    await deps.secrets.save(setup, deps.folder, phrase.entropy, password);
    await store.startSync(device, setup);
    // It is set up by now, whether or not the settings can be written.
    await deps.saveAddress(address).catch((error: unknown) => deps.log.warn('sync_address_not_saved', { detail: errorText(error) }));
    return { value: setup };
  } finally {
    await directory.close().catch(() => undefined);
  }
}

async function begin(
  deps: SetUpDeps,
  directory: HistoryDirectory,
  { isNew, ...line }: ListedHistory & { readonly isNew: boolean },
  here: { readonly history: string; readonly device: string },
  { address, access }: { readonly address: string; readonly access: { readonly bundles: string; readonly password?: string } },
): Promise<void> {
  if (isNew) await directory.noteHistory(line);
  await directory.noteDevice({ ...here, name: deps.deviceName(), at: deps.now() });
  const engine = await openEngine(address, { ...access, history: here.history, create: isNew });
  await engine.close();
}

/** Tries until it works, or the user wants to answer otherwise, or no longer wants it. */
async function tried<T>(address: string, work: () => Promise<T>): Promise<Tried<T>> {
  for (;;) {
    try {
      const title = t('Checking {0}…', engineName(address));
      return { value: await window.withProgress({ location: ProgressLocation.Notification, title }, work) };
    } catch (error) {
      if (!EngineError.is(error)) throw error;
      const [again, back] = [t('Try Again'), t('Go Back')];
      const { message, detail } = setUpFailure(error, address);
      // The one that is likely to help stands first.
      const buttons = error.reason === 'no_history' || error.reason === 'refused' ? [back, again] : [again, back];
      const answer = await window.showErrorMessage(message, { modal: true, detail }, ...buttons);
      if (answer !== again) return { next: answer === back ? 'ask' : 'leave', isPhraseWrong: error.reason === 'no_history' };
    }
  }
}
