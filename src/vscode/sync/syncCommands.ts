import { env, window, type QuickPickItem } from 'vscode';
import { t } from '../../core/l10n';
import type { SessionStore } from '../../core/ports';
import type { SyncSetup } from '../../core/sync/syncStore';
import { phraseOf } from '../../node/sync/historyKeys';
import { removeHistory } from '../../node/sync/removeHistory';
import { showPhrase } from './setUpQuestions';
import { setUpSync, type SetUpDeps } from './setUpSync';
import type { SyncSecrets } from './syncSecrets';
import { plainLabel } from '../plainText';
import { adviceFor, engineName, longState, noteText, problemText, sentText, unreadTexts } from './syncTexts';
import type { Syncing } from './syncing';

export interface SyncCommandsDeps extends Omit<SetUpDeps, 'store'> {
  readonly store: () => Promise<SessionStore>;
  readonly secrets: SyncSecrets;
  readonly syncing: Syncing;
  /** What this workspace is synchronized with from now on; null: it is not. */
  readonly setWanted: (setup: SyncSetup | null) => Promise<void>;
  /** Until the work is done this window does not take part by itself in what it finds set up. */
  readonly leaving: (work: () => Promise<void>) => Promise<void>;
  readonly tell: (text: string) => void;
  readonly showLog: () => void;
}

interface Row extends QuickPickItem {
  readonly act?: () => unknown;
}

/** What can be asked of synchronizing. */
export class SyncCommands {
  constructor(private readonly deps: SyncCommandsDeps) {}

  async setUp(): Promise<void> {
    const wasOn = (await (await this.deps.store()).syncSetup()) !== null;
    const setup = await setUpSync(this.deps);
    if (!setup) return;
    await this.deps.setWanted(setup);
    // One that runs was given the password of before.
    await this.deps.syncing.pause();
    this.deps.syncing.resume();
    // Nothing else would show that something was done.
    if (wasOn) await this.status();
  }

  async now(): Promise<void> {
    await this.require();
    await this.deps.syncing.apply();
    this.deps.syncing.wake('asked');
  }

  async status(): Promise<void> {
    const setup = await this.require();
    const store = await this.deps.store();
    const { syncing, now } = this.deps;
    const { device, logs, unread } = await store.syncHeld();
    const waits = (await store.syncPending(1)).receipt !== null;
    const { state } = syncing;
    const nameOf = (id: string) =>
      plainLabel(id === device ? t('{0} (this device)', this.deps.deviceName()) : (syncing.nameOf(id) ?? t('Device {0}', id.slice(0, 8))));
    const rows: Row[] = [
      {
        label: `$(sync) ${longState(state, setup.engine, now())}`,
        ...(state.failure ? { detail: adviceFor(state.failure.reason, setup.engine) } : {}),
        act: () => this.now(),
      },
      { label: `$(server) ${engineName(setup.engine)}`, detail: t('History “{0}”', setup.name) },
      { label: `$(cloud-upload) ${sentText(state, waits)}` },
      ...unreadTexts(unread).map(({ label, detail }) => ({ label: `$(lock) ${label}`, detail })),
      ...state.problems.map((problem) => {
        const text = problemText(problem, nameOf(problem.device));
        return { label: `$(warning) ${text.label}`, detail: text.detail, act: () => this.deps.showLog() };
      }),
      ...state.notes.map((note) => {
        const { label, detail } = noteText(note);
        return { label: `$(warning) ${label}`, detail, act: () => this.deps.showLog() };
      }),
      { label: t('Devices'), kind: -1 },
      ...[...new Set([device, ...logs.map((log) => log.device), ...syncing.devices.map(({ id }) => id)])].map((id) => ({
        label: `$(device-desktop) ${nameOf(id)}`,
        description: recordsText(logs.find((log) => log.device === id)?.next ?? 0),
      })),
      { label: '', kind: -1 },
      { label: `$(add) ${t('Add a Device…')}`, act: () => this.addDevice() },
      { label: `$(close) ${t('Leave Sync…')}`, act: () => this.leave() },
    ];
    const picked = await window.showQuickPick(rows, { title: t('Sync Status') });
    await picked?.act?.();
  }

  async addDevice(): Promise<void> {
    const setup = await this.require();
    const show = t('Show Recovery Phrase');
    const copy = t('Copy Address');
    const answer = await window.showInformationMessage(
      t('Add a device to this history'),
      {
        modal: true,
        detail: [
          t('1. On the other device, open this folder in VS Code and run “Threadkeeper: Set Up Sync…”.'),
          t('2. Choose the same place: {0}', setup.engine),
          t('3. Choose “Enter a Recovery Phrase…” and type the 24 words.'),
        ].join('\n'),
      },
      show,
      copy,
    );
    if (answer === copy) return env.clipboard.writeText(setup.engine);
    if (answer !== show) return;
    const entropy = await this.deps.secrets.key(setup.history);
    if (!entropy) throw new Error(t('The recovery phrase is not on this machine.'));
    const confirmed = t('Show');
    const question = t('Show the recovery phrase?');
    const detail = t('Whoever sees it can read your history. Make sure nobody is watching, and do not share your screen.');
    if ((await window.showWarningMessage(question, { modal: true, detail }, confirmed)) !== confirmed) return;
    await showPhrase(phraseOf(entropy), false);
  }

  async leave(): Promise<void> {
    const setup = await (await this.deps.store()).syncSetup();
    if (!setup) return this.isOff();
    const [leave, removeToo] = [t('Leave'), t('Leave and Remove It There')];
    const detail = [
      t('Everything that was said stays in this workspace, also what came from other devices. It is no longer exchanged.'),
      t('“{0}” keeps what this device has sent, sealed, in {1}. Other devices go on with it.', leave, engineName(setup.engine)),
      t(
        '“{0}” ends it for all: other devices keep what they have and stop synchronizing. Backups of that place may still hold the history, sealed.',
        removeToo,
      ),
      t(
        'The recovery phrase and the password leave this machine unless another workspace here uses them. To come back, you need the phrase.',
      ),
    ].join('\n\n');
    const answer = await window.showWarningMessage(t('Leave sync?'), { modal: true, detail }, leave, removeToo);
    if (answer !== leave && answer !== removeToo) return;
    await this.deps.leaving(async () => {
      await this.deps.setWanted(null);
      await this.deps.syncing.apply();
      if (answer === removeToo) await this.removeThere(setup);
      await (await this.deps.store()).stopSync();
      await this.deps.secrets.forget(setup, this.deps.folder);
    });
    this.deps.tell(t('This workspace is no longer synchronized.'));
  }

  /** Where that is refused, nothing else has changed, and it goes on. */
  private async removeThere(setup: SyncSetup): Promise<void> {
    const { secrets, distDir: bundles } = this.deps;
    const password = await secrets.password(setup.engine);
    try {
      await removeHistory(setup, (await secrets.key(setup.history)) ?? null, { bundles, ...(password ? { password } : {}) });
    } catch (error) {
      await this.deps.setWanted(setup);
      await this.deps.syncing.apply();
      throw error;
    }
  }

  /** A backup from before it was set up was brought back, or the command line has left: it can be set up again then. */
  private async isOff(): Promise<void> {
    await this.deps.setWanted(null);
    await this.deps.syncing.apply();
    this.deps.tell(t('This workspace is no longer synchronized.'));
  }

  private async require(): Promise<SyncSetup> {
    const setup = await (await this.deps.store()).syncSetup();
    if (setup) return setup;
    // A backup from before it was set up was brought back, or the command line has left: it can be set up again then.
    await this.deps.setWanted(null);
    await this.deps.syncing.apply();
    throw new Error(t('This workspace is not synchronized. Threadkeeper: Set Up Sync… begins it.'));
  }
}

function recordsText(count: number): string {
  return t(count === 1 ? '{0} record' : '{0} records', count);
}
