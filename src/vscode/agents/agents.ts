import { Serial } from '../../core/base/serial';
import { ConfigurationTarget, window, workspace } from 'vscode';
import { Emitter } from '../../core/base/event';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { Logger, SessionStore } from '../../core/ports';
import type { ProgramId, ProgramStatus } from '../../core/transfer/programs';
import type { FoundProgram } from '../../node/transfer/watch/findPrograms';
import type { WatchEvent, WatchRequest } from '../../node/transfer/watch/watchTask';
import { settingKey, type Settings } from '../settingsValues';
import { pickAgents } from './agentPick';
import { agentStates, type AgentState } from './agentStates';

export interface AgentsDeps {
  readonly settings: () => Settings['agents'];
  /** Folders of the workspace on this disk; null: it is not on this disk, or not trusted, and nothing may be watched for it. */
  readonly folders: () => readonly string[] | null;
  readonly find: (folders: readonly string[]) => Promise<readonly FoundProgram[]>;
  readonly watch: (
    store: SessionStore,
    request: Omit<WatchRequest, 'store'>,
    options: { readonly signal: AbortSignal; readonly onEvent: (event: WatchEvent) => void },
  ) => Promise<void>;
  /** A connection beside that of the chat, which learns from it as from another window. Rejects with `StoreError`. */
  readonly openStore: () => Promise<SessionStore>;
  /** What need not be read again is noted here. */
  readonly memoryFile: () => Promise<string>;
  readonly log: Logger;
}

interface Watching {
  /** What is watched, in a word. */
  readonly what: string;
  readonly abort: AbortController;
  readonly store: SessionStore;
  readonly ended: Promise<void>;
}

/** What was found on this machine is taken for so long. */
const foundForMs = 5 * 60_000;

/** Follows the programs that the user has switched on: what is said there appears in this history. Their files are only read. */
export class Agents implements Disposable {
  /** They end with it. */
  readonly owned = new DisposableStore();
  private readonly changed = this.owned.add(new Emitter<void>());
  /** What is watched, found or unread is another than before. */
  readonly onDidChange = this.changed.event;
  private watching: Watching | null = null;
  private status: readonly ProgramStatus[] = [];
  private found: { readonly at: number; readonly programs: readonly FoundProgram[] } | null = null;
  /** Starting and stopping happen one after the other. */
  private readonly serial = new Serial();
  private paused = false;

  constructor(private readonly deps: AgentsDeps) {}

  /** Watches what the settings name, or nothing. Never rejects. */
  apply(): Promise<void> {
    return this.serial
      .run(async () => {
        const { watch, sessions } = this.deps.settings();
        const folders = this.deps.folders();
        const wanted = folders === null || this.paused ? '' : JSON.stringify([watch, sessions, folders]);
        if (this.watching ? wanted === this.watching.what : wanted === '' || watch.length === 0) return;
        await this.end();
        if (wanted !== '' && watch.length > 0 && folders)
          await this.begin(wanted, watch, sessions === 'all' || folders.length === 0, folders);
        this.changed.fire();
      })
      .catch((error: unknown) => this.deps.log.warn('agents_not_watched', { detail: errorText(error) }));
  }

  /** While the store is being opened anew nothing else may have it open. */
  async pause(): Promise<void> {
    this.paused = true;
    await this.serial.run(() => this.end());
  }

  resume(): void {
    this.paused = false;
    void this.apply();
  }

  /** Asks which programs are to be watched. Rejects with the reason when nothing may be. */
  async choose(): Promise<void> {
    const folders = this.deps.folders();
    if (folders === null)
      throw new Error(
        workspace.isTrusted
          ? t('Agents cannot be watched here: the folder of this workspace is not on this disk.')
          : t('Agents are watched in trusted workspaces only. Trust this workspace first.'),
      );
    this.found = null;
    const found = await this.findNow(folders);
    const { watch, sessions } = this.deps.settings();
    const picked = await pickAgents(found, { watch, all: sessions === 'all', status: this.status, hasFolder: folders.length > 0 });
    if (!picked) return;
    // What is not on this machine just now stays as it was.
    const absent = watch.filter((id) => !found.some((one) => one.id === id));
    await save('agents.sessions', picked.all ? 'all' : 'workspace');
    await save('agents.watch', [...picked.watch, ...absent]);
    await this.apply();
    if (picked.watch.length > 0 && !this.watching) throw new Error(t('The agents could not be watched. Threadkeeper: Show Log says why.'));
    if (picked.watch.length === 0 && watch.length > 0)
      void window.showInformationMessage(`Threadkeeper: ${t('No agent is watched any more. What came from them stays in your history.')}`);
  }

  /** Every program that is on this machine or is watched: how it stands. Empty where nothing may be watched. Never rejects. */
  async states(): Promise<readonly AgentState[]> {
    const folders = this.deps.folders();
    if (folders === null) return [];
    const found = await this.findNow(folders).catch(() => []);
    return agentStates(found, this.watching ? this.deps.settings().watch : [], this.status);
  }

  dispose(): void {
    void this.pause();
    this.owned.dispose();
  }

  private async findNow(folders: readonly string[]): Promise<readonly FoundProgram[]> {
    if (!this.found || Date.now() - this.found.at > foundForMs) this.found = { at: Date.now(), programs: await this.deps.find(folders) };
    return this.found.programs;
  }

  private async begin(what: string, programs: readonly ProgramId[], all: boolean, folders: readonly string[]): Promise<void> {
    const { openStore, memoryFile, watch, log } = this.deps;
    const file = await memoryFile();
    const store = await openStore();
    if (store.status.access === 'readonly') {
      await store.close();
      throw new Error(t('The history can only be read in this window'));
    }
    const abort = new AbortController();
    const request = { programs, folders: all ? null : folders, workspace: folders, memoryFile: file };
    const ended = watch(store, request, { signal: abort.signal, onEvent: (event) => this.heard(event) }).catch((error: unknown) => {
      log.warn('agents_not_watched', { detail: errorText(error) });
      if (this.watching?.abort !== abort) return;
      // Its thread has ended: what it followed is unread, and the next change of the settings begins anew.
      this.watching = { ...this.watching, what: 'ended' };
      const problem = { source: t('Watching has ended'), reason: errorText(error) };
      this.status = programs.map((id) => ({ id, sources: 0, bytes: 0, waiting: 0, sessions: 0, problems: [problem] }));
      this.changed.fire();
    });
    log.info('agents_watched', { programs, all });
    this.watching = { what, abort, store, ended };
  }

  private async end(): Promise<void> {
    const { watching } = this;
    this.watching = null;
    this.status = [];
    watching?.abort.abort();
    await watching?.ended;
    await watching?.store.close();
  }

  private heard(event: WatchEvent): void {
    if (event.type !== 'status') return;
    this.status = event.programs;
    this.changed.fire();
  }
}

/** The user's own: no workspace may say what is read on this machine. */
async function save(name: 'agents.watch' | 'agents.sessions', value: unknown): Promise<void> {
  await workspace.getConfiguration().update(settingKey(name), value, ConfigurationTarget.Global);
}
