import { ConfigurationTarget, QuickPickItemKind, window, workspace, type QuickPickItem } from 'vscode';
import type { Disposable } from '../core/base/disposable';
import { errorText } from '../core/errors';
import type { IdSource, Logger, SessionStore } from '../core/ports';
import type { FoundOpenClaw, OpenClawAgent } from '../node/transfer/findOpenClaw';
import type { OpenClawWatch, OpenClawWatchOptions } from '../node/transfer/openClawWatch';
import { settingKey } from './contributions';
import { agoText } from './sessionText';
import type { Settings } from './settingsValues';

export interface OpenClawDeps {
  readonly settings: () => Settings['openClaw'];
  readonly find: (path: string) => Promise<FoundOpenClaw>;
  readonly watch: (folder: string, key: string, options: Omit<OpenClawWatchOptions, 'source'>) => Promise<OpenClawWatch>;
  /** A connection beside that of the chat, which learns from it as from another window. Rejects with `StoreError`. */
  readonly openStore: () => Promise<SessionStore>;
  /** UUID of the session on show. */
  readonly shown: () => string | null;
  readonly show: (session: string) => Promise<void>;
  readonly tell: (text: string) => void;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
}

interface Watching {
  readonly key: string;
  readonly watch: OpenClawWatch;
  readonly store: SessionStore;
}

type Item = QuickPickItem & { readonly choice?: { readonly key: string } | 'stop' };

/** Keeps a session of OpenClaw in sight, as the settings say: its records appear in a session here, its files are only read. */
export class OpenClaw implements Disposable {
  private watching: Watching | null = null;
  /** Starting and stopping happen one after the other. */
  private last: Promise<unknown> = Promise.resolve();
  /** The session that the watched key was last seen in. */
  private session: string | null = null;
  private showNext = false;
  private paused = false;

  constructor(private readonly deps: OpenClawDeps) {}

  /** Watches what the settings name, or nothing. Never rejects. */
  async apply(): Promise<void> {
    const { inherit, sessionKey } = this.deps.settings();
    const wanted = inherit && sessionKey !== '' ? sessionKey : null;
    await this.serial(async () => {
      if (this.paused || this.watching?.key === wanted) return;
      await this.end();
      if (wanted !== null) await this.begin(wanted);
    }).catch((error: unknown) => this.deps.log.warn('openclaw_not_watched', { detail: errorText(error) }));
  }

  /** While the store is being opened anew nothing else may have it open. */
  async pause(): Promise<void> {
    this.paused = true;
    await this.serial(() => this.end());
  }

  resume(): void {
    this.paused = false;
    void this.apply();
  }

  /** Asks for an agent and a session of it. Rejects with the reason when there is none. */
  async choose(): Promise<void> {
    const { settings, find, tell } = this.deps;
    const { path, sessionKey, inherit } = settings();
    const found = await find(path);
    if (found.agents.length === 0) throw new Error(nothingFound(found));
    const picked = await window.showQuickPick(items(found.agents, inherit ? sessionKey : null, this.deps.now()), {
      title: 'Watch OpenClaw Session',
      placeHolder: 'Its history appears here and goes on as OpenClaw writes it. Nothing is written to OpenClaw.',
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (!picked?.choice) return;
    if (picked.choice === 'stop') {
      await save('openClawInherit', false);
      await this.apply();
      return tell('OpenClaw is not watched any more. What came from it stays in your history.');
    }
    this.showNext = true;
    await save('openClawSessionKey', picked.choice.key);
    await save('openClawInherit', true);
    await this.apply();
    if (!this.watching) throw new Error('The session could not be watched. Threadkeeper: Show Log says why.');
  }

  dispose(): void {
    void this.pause();
  }

  private async begin(key: string): Promise<void> {
    const { find, watch, openStore, settings, ids, now, log } = this.deps;
    const { agents } = await find(settings().path);
    const agent = agents.find(({ sessions }) => sessions.some((session) => session.key === key));
    if (!agent) throw new Error(`No agent of OpenClaw has a session with the key ${key}`);
    const store = await openStore();
    if (store.status.access === 'readonly') {
      await store.close();
      throw new Error('The history can only be read in this window');
    }
    const watching = await watch(agent.folder, key, { store, ids, now, log, added: (session) => void this.added(session) });
    this.watching = { key, watch: watching, store };
    await watching.start();
  }

  private async end(): Promise<void> {
    const { watching } = this;
    this.watching = null;
    this.session = null;
    await watching?.watch.stop();
    await watching?.store.close();
  }

  /** A session that was chosen just now is shown; and so is the next one of its key, to whoever looks at the one before. */
  private async added(session: string): Promise<void> {
    const { shown, show, log } = this.deps;
    const isNext = this.session !== null && this.session !== session && shown() === this.session;
    this.session = session;
    if (!this.showNext && !isNext) return;
    this.showNext = false;
    await show(session).catch((error: unknown) => log.warn('openclaw_not_shown', { detail: errorText(error) }));
  }

  private serial<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}

function items(agents: readonly OpenClawAgent[], watched: string | null, now: number): Item[] {
  return [
    ...(watched === null ? [] : [{ label: '$(debug-stop) Stop Watching', description: watched, choice: 'stop' as const }]),
    ...agents.flatMap(({ agent, sessions }): Item[] => [
      { label: agent, kind: QuickPickItemKind.Separator },
      ...sessions.map(({ key, sessionId, updatedAt }) => ({ label: `${key === watched ? '$(eye) ' : ''}${key}`, description: updatedAt === null ? sessionId : `${agoText(updatedAt, now)} · ${sessionId}`, choice: { key } })),
    ]),
  ];
}

function nothingFound({ paths, inDatabase }: FoundOpenClaw): string {
  if (inDatabase.length > 0) return `The sessions of ${inDatabase.join(', ')} are kept in a database (OpenClaw 2026.8.1 and later), which cannot be watched yet.`;
  return `No sessions of OpenClaw were found in ${paths.join(', ')}. If its agents are elsewhere, set threadkeeper.openclaw.path to their folder.`;
}

/** The user's own settings where no folder is open. */
async function save(name: 'openClawInherit' | 'openClawSessionKey', value: unknown): Promise<void> {
  await workspace.getConfiguration().update(settingKey(name), value, workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
}
