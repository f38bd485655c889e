import { hostname } from 'node:os';
import { ConfigurationTarget, env, ProgressLocation, window, workspace } from 'vscode';
import { Emitter } from '../../core/base/event';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { SessionStore } from '../../core/ports';
import type { StoreAccess } from '../history/storeAccess';
import { systemClock } from '../../node/runtime/systemClock';
import type { ApiKeysDeps } from '../models/apiKeys';
import type { WindowState } from '../chat/windowState';
import type { ContextKeys } from '../context/contextKeys';
import type { Log } from '../log';
import type { CommandName } from '../manifest';
import { settingKey, type Settings } from '../settingsValues';
import type { ElsewhereDeps } from './elsewhereWatch';
import type { SyncCommands } from './syncCommands';
import type { Syncing } from './syncing';

export type SyncCommandName = Extract<CommandName, 'setUpSync' | 'syncNow' | 'syncStatus' | 'addSyncDevice' | 'leaveSync'>;

export interface SyncHereDeps {
  readonly secrets: ApiKeysDeps['secrets'];
  readonly memory: Pick<WindowState, 'synced' | 'setSynced'>;
  readonly contextKeys: Pick<ContextKeys, 'set'>;
  readonly folder: () => Promise<string>;
  readonly store: Pick<StoreAccess, 'get' | 'current' | 'onDidOpen' | 'onDidChangeContent'>;
  readonly settings: () => Settings['sync'];
  /** The chats of this window. */
  readonly chats: Pick<ElsewhereDeps, 'places' | 'isDismissed'>;
  readonly log: Log;
}

/** Milliseconds. Where nothing comes, the engine is asked every five minutes (`pace` in syncLoop.ts). */
const recent = 600_000;

/** For those who show how it stands: in few words, and in a sentence. */
export interface SyncLine {
  readonly short: string;
  readonly long: string;
  readonly isProblem: boolean;
}

interface Loaded {
  readonly syncing: Syncing;
  readonly commands: SyncCommands;
  readonly line: () => SyncLine;
}

/** Synchronizing of this workspace. Until the user has set it up, or asks for it, nothing of it is loaded. */
export class SyncHere implements Disposable {
  private readonly owned = new DisposableStore();
  private readonly changed = this.owned.add(new Emitter<SyncLine | null>());
  /** How it stands is another; null: it is off. */
  readonly onDidChange = this.changed.event;
  private loaded: Promise<Loaded> | null = null;
  private syncing: Syncing | null = null;
  private paused = false;
  private leaving = false;

  constructor(private readonly deps: SyncHereDeps) {
    this.owned.add(
      workspace.onDidGrantWorkspaceTrust(() => {
        this.begin();
        this.look();
      }),
    );
    this.owned.add(deps.store.onDidOpen(() => this.look()));
    this.owned.add(deps.store.onDidChangeContent((change) => change.kind === 'session' && change.session === null && this.look()));
    // The store's news may be here before the secrets that the other window has saved.
    this.owned.add(deps.secrets.onDidChange(() => this.look()));
    this.owned.add(window.onDidChangeWindowState(({ focused }) => focused && this.syncing?.wake('looked')));
    this.begin();
  }

  readonly all: Readonly<Record<SyncCommandName, () => Promise<void>>> = {
    setUpSync: async () => (await this.load()).commands.setUp(),
    syncNow: async () => (await this.load()).commands.now(),
    syncStatus: async () => (await this.load()).commands.status(),
    addSyncDevice: async () => (await this.load()).commands.addDevice(),
    leaveSync: async () => (await this.load()).commands.leave(),
  };

  /** This window has heard lately, and without a problem, what other devices have said. */
  get hasHeard(): boolean {
    const state = this.syncing?.state;
    return typeof state?.at === 'number' && Date.now() - state.at < recent && state.problems.length === 0;
  }

  /**
   * Resolves with whether all that other devices have said is in the store, as far as it has arrived at the engine; so it is where nothing
   * is set up. The command line may have set up what no window synchronizes. Rejects with `StoreError`.
   */
  async isCurrent(store: Pick<SessionStore, 'syncSetup'>): Promise<boolean> {
    return this.hasHeard || (await store.syncSetup()) === null;
  }

  async pause(): Promise<void> {
    this.paused = true;
    await this.syncing?.pause();
  }

  resume(): void {
    this.paused = false;
    this.syncing?.resume();
  }

  dispose(): void {
    this.owned.dispose();
  }

  private begin(): void {
    const isOn = this.wanted() !== null;
    this.deps.contextKeys.set('syncOn', isOn);
    if (!isOn) return;
    this.load().then(
      ({ syncing }) => (this.paused ? undefined : syncing.apply()),
      (error: unknown) => this.deps.log.error('sync_not_loaded', { detail: errorText(error) }),
    );
  }

  /** Another window may have set it up: this one takes part then, as one that is opened later does. */
  private look(): void {
    const { store, secrets, memory, log } = this.deps;
    const isOpen = () => workspace.isTrusted && memory.synced() === null && !this.leaving;
    if (!isOpen() || store.current === null) return;
    const take = async (open: SessionStore) => {
      const [{ setUpElsewhere }, { SyncSecrets }] = await Promise.all([import('./setUpElsewhere'), import('./syncSecrets')]);
      const setup = await setUpElsewhere(open, new SyncSecrets(secrets), folderHere());
      if (!setup || !isOpen()) return;
      await memory.setSynced({ history: setup.history, engine: setup.engine });
      this.begin();
    };
    take(store.current).catch((error: unknown) => log.debug('sync_setup_unknown', { detail: errorText(error) }));
  }

  private wanted(): { readonly history: string; readonly engine: string } | null {
    return workspace.isTrusted ? this.deps.memory.synced() : null;
  }

  private load(): Promise<Loaded> {
    return (this.loaded ??= this.loadNow().catch((error: unknown) => {
      this.loaded = null;
      throw error;
    }));
  }

  private async loadNow(): Promise<Loaded> {
    const { secrets, memory, contextKeys, store, settings, log, folder } = this.deps;
    const [{ SyncCommands }, { Syncing }, { SyncThread }, { SyncSecrets }, { longState, shortState }, { ElsewhereWatch }] =
      await Promise.all([
        import('./syncCommands'),
        import('./syncing'),
        import('../../node/sync/syncInThread'),
        import('./syncSecrets'),
        import('./syncTexts'),
        import('./elsewhereWatch'),
      ]);
    const kept = new SyncSecrets(secrets);
    const ofSystem = env.remoteName === undefined ? hostname() : `${hostname()} (${env.remoteName})`;
    const deviceName = () => settings().deviceName || ofSystem;
    const common = { secrets: kept, distDir: __dirname, deviceName, log };
    const tell = (text: string) => void window.showInformationMessage(`Threadkeeper: ${text}`);
    const setWanted = async (wanted: { readonly history: string; readonly engine: string } | null) => {
      await memory.setSynced(wanted && { history: wanted.history, engine: wanted.engine });
      contextKeys.set('syncOn', this.wanted() !== null);
    };
    const notSetUp = async () => {
      await setWanted(null);
      tell(t('This workspace is no longer synchronized.'));
    };
    const syncing = this.owned.add(
      new Syncing({
        ...common,
        folder,
        wanted: () => this.wanted(),
        begin: (request, heard) => new SyncThread(request, heard),
        notSetUp,
        clock: systemClock,
      }),
    );
    this.syncing = syncing;
    const line = (): SyncLine => ({
      short: shortState(syncing.state, Date.now()),
      long: longState(syncing.state, memory.synced()?.engine ?? '', Date.now()),
      isProblem: syncing.state.failure !== null || syncing.state.problems.length > 0 || syncing.state.notes.length > 0,
    });
    const elsewhere = this.owned.add(
      new ElsewhereWatch({ ...this.deps.chats, store: () => store.current, nameOf: (device) => syncing.nameOf(device), log }),
    );
    const progress = this.owned.add(new Progress(() => syncing.cancel()));
    this.owned.add(
      syncing.onDidChange(() => {
        this.changed.fire(this.wanted() ? line() : null);
        progress.show(syncing.state.progress);
        if (syncing.state.phase !== 'syncing') elsewhere.look();
      }),
    );
    const commands = new SyncCommands({
      ...common,
      syncing,
      store: () => store.get(),
      folder: folderHere(),
      lastAddress: () => settings().address,
      saveAddress: async (value) => workspace.getConfiguration().update(settingKey('sync.address'), value, ConfigurationTarget.Global),
      setWanted,
      leaving: async (work) => {
        this.leaving = true;
        await work().finally(() => (this.leaving = false));
      },
      now: Date.now,
      tell,
      showLog: () => log.show(),
    });
    return { syncing, commands, line };
  }
}

/** Folder of the workspace on this disk; null: none. */
function folderHere(): string | null {
  return workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath ?? null;
}

/** A notification while a long history comes in, with which it can be stopped. */
class Progress implements Disposable {
  private running: { readonly report: (pulled: number, of: number) => void; readonly end: () => void } | null = null;

  constructor(private readonly cancel: () => void) {}

  show(progress: { readonly pulled: number; readonly of: number } | null): void {
    if (!progress || progress.pulled >= progress.of) return this.dispose();
    this.running ??= this.begin();
    this.running.report(progress.pulled, progress.of);
  }

  dispose(): void {
    this.running?.end();
    this.running = null;
  }

  private begin(): NonNullable<Progress['running']> {
    let end = (): void => undefined;
    let tell = (_pulled: number, _of: number): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const title = t('Threadkeeper: your history is coming in');
    void window.withProgress({ location: ProgressLocation.Notification, title, cancellable: true }, (progress, token) => {
      let shown = 0;
      tell = (pulled, of) => {
        const percent = Math.floor((pulled / of) * 100);
        if (percent > shown) progress.report({ increment: percent - shown, message: `${percent}%` });
        shown = Math.max(shown, percent);
      };
      token.onCancellationRequested(() => {
        this.cancel();
        end();
      });
      return ended;
    });
    return { report: (pulled, of) => tell(pulled, of), end: () => end() };
  }
}
