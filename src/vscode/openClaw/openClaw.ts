import { Serial } from '../../core/base/serial';
import { ConfigurationTarget, QuickPickItemKind, window, workspace, type QuickPickItem } from 'vscode';
import type { Disposable } from '../../core/base/disposable';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { IdSource, Logger, SessionStore } from '../../core/ports';
import { meantSession } from '../../core/transfer/openClawKeys';
import type { FoundOpenClaw, OpenClawAgent, OpenClawPlace } from '../../node/transfer/openClaw/findOpenClaw';
import type { OpenClawWatch, OpenClawWatchOptions } from '../../node/transfer/openClaw/openClawWatch';
import { settingKey } from '../settingsValues';
import { confirmReplies, confirmWatch, oneWayText, showOpenClawNotice } from './openClawNotices';
import { plainLabel } from '../plainText';
import { ago } from '../../protocol/figures';
import type { Settings } from '../settingsValues';

export interface OpenClawDeps {
  readonly settings: () => Settings['openClaw'];
  readonly find: (path: string) => Promise<FoundOpenClaw>;
  readonly watch: (place: OpenClawPlace, key: string, options: Omit<OpenClawWatchOptions, 'source'>) => Promise<OpenClawWatch>;
  /** A connection beside that of the chat, which learns from it as from another window. Rejects with `StoreError`. */
  readonly openStore: () => Promise<SessionStore>;
  /** UUID of the session on show. */
  readonly shown: () => string | null;
  /** `focus`: the user has asked for it just now. */
  readonly show: (session: string, focus: boolean) => Promise<void>;
  readonly tell: (text: string) => void;
  /** Which transcripts the user has agreed to have written to, by folder and key. */
  readonly agreed: { has(transcript: string): boolean; add(transcript: string): Promise<void> };
  /** Which sessions, by their keys, the user wants to see in this workspace: its settings may name one, and that alone shows nothing. */
  readonly watched: { has(key: string): boolean; add(key: string): Promise<void> };
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
}

interface Watching {
  /** As the settings have it: a short key, maybe. */
  readonly wanted: string;
  readonly key: string;
  readonly place: OpenClawPlace;
  readonly watch: OpenClawWatch;
  readonly store: SessionStore;
}

type Item = QuickPickItem & { readonly choice?: { readonly key: string } | 'stop' | 'replies' };

/**
 * Keeps a session of OpenClaw in sight, as the settings say: its records appear in a session here. Its files are only read, unless the
 * user has switched replies on and has agreed to it for this very session.
 */
export class OpenClaw implements Disposable {
  private watching: Watching | null = null;
  /** Starting and stopping happen one after the other. */
  private readonly serial = new Serial();
  /** The session that the watched key was last seen in. */
  private session: string | null = null;
  private showNext = false;
  private paused = false;
  private isAsking = false;
  private toldOneWay: string | null = null;
  /** What was asked in this window about keys that nobody had chosen. */
  private readonly askedToWatch = new Map<string, Promise<boolean>>();

  constructor(private readonly deps: OpenClawDeps) {}

  /** Watches what the settings name, or nothing. Never rejects. */
  async apply(): Promise<void> {
    const { inherit, sessionKey } = this.deps.settings();
    const wanted = inherit && sessionKey !== '' && (await this.mayWatch(sessionKey)) ? sessionKey : null;
    await this.serial
      .run(async () => {
        if (this.paused || this.watching?.wanted === wanted) return;
        await this.end();
        if (wanted !== null) await this.begin(wanted);
      })
      .catch((error: unknown) => this.deps.log.warn('openclaw_not_watched', { detail: errorText(error) }));
    void this.setReplies().catch((error: unknown) => this.deps.log.warn('openclaw_replies_not_set', { detail: errorText(error) }));
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

  /** Asks for an agent and a session of it. Rejects with the reason when there is none. */
  async choose(): Promise<void> {
    const { settings, find, tell } = this.deps;
    const { path, sessionKey, inherit, twoWay } = settings();
    const found = await find(path);
    if (found.agents.length === 0) throw new Error(nothingFound(found));
    const watched = inherit && this.watching?.wanted === sessionKey ? this.watching : null;
    const picked = await window.showQuickPick(items(found.agents, watched, twoWay, this.deps.now()), {
      title: t('Watch OpenClaw Session'),
      placeHolder: t('OpenClaw’s files are only read, unless you switch replies on.'),
      matchOnDescription: true,
      matchOnDetail: true,
    });
    if (!picked?.choice) return;
    if (picked.choice === 'stop') {
      await save('openclaw.inherit', false);
      await this.apply();
      return tell(t('OpenClaw is not watched any more. What came from it stays in your history.'));
    }
    if (picked.choice === 'replies') {
      await saveReplies(!twoWay);
      if (twoWay) tell(t('Replies stay here from now on. What has been written to OpenClaw stays there.'));
      return;
    }
    this.showNext = true;
    await this.deps.watched.add(picked.choice.key);
    await save('openclaw.sessionKey', picked.choice.key);
    await save('openclaw.inherit', true);
    await this.apply();
    if (!this.watching) throw new Error(t('The session could not be watched. Threadkeeper: Show Log says why.'));
  }

  dispose(): void {
    void this.pause();
  }

  /** Asks once for each key that was not chosen in the list: a repository may carry settings. */
  private async mayWatch(key: string): Promise<boolean> {
    const { watched } = this.deps;
    if (watched.has(key)) return true;
    let asked = this.askedToWatch.get(key);
    if (!asked) this.askedToWatch.set(key, (asked = confirmWatch(key)));
    if (!(await asked)) return watched.has(key);
    await watched.add(key);
    return true;
  }

  /** Asks outside of the queue: a question that is left open holds nothing up. */
  private async setReplies(): Promise<void> {
    await this.serial.idle();
    const { watching } = this;
    if (!watching || this.isAsking) return;
    const { key, place, watch } = watching;
    const { settings, agreed, tell } = this.deps;
    if (!settings().twoWay || place.type === 'database') {
      watch.writeReplies(false);
      if (settings().twoWay && this.toldOneWay !== key) tell(oneWayText(key));
      this.toldOneWay = settings().twoWay ? key : null;
      return;
    }
    const transcript = `${place.folder}\n${key}`;
    if (!agreed.has(transcript)) {
      watch.writeReplies(false);
      this.isAsking = true;
      try {
        if (!(await confirmReplies(key, watch.file ?? place.folder))) return await saveReplies(false);
        await agreed.add(transcript);
      } finally {
        this.isAsking = false;
      }
      // The settings may be other ones by now, and so may be what is watched.
      return this.setReplies();
    }
    watch.writeReplies(true);
  }

  private async begin(wanted: string): Promise<void> {
    const { find, watch, openStore, settings, ids, now, log } = this.deps;
    const { agents } = await find(settings().path);
    const meant = meantSession(agents, wanted);
    if (!meant) throw new Error(t('No agent of OpenClaw has a session with the key {0}', wanted));
    const { agent, key } = meant;
    const store = await openStore();
    if (store.status.access === 'readonly') {
      await store.close();
      throw new Error(t('The history can only be read in this window'));
    }
    const watching: OpenClawWatch = await watch(agent.place, key, {
      store,
      ids,
      now,
      log,
      added: (session) => void this.added(session),
      told: (notice) => {
        log.info('openclaw_notice', { ...notice });
        void showOpenClawNotice(notice, () => watching.goToTip()).catch((error: unknown) =>
          log.warn('openclaw_not_shown', { detail: errorText(error) }),
        );
      },
    }).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    this.watching = { wanted, key, place: agent.place, watch: watching, store };
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
    const { showNext } = this;
    this.showNext = false;
    await show(session, showNext).catch((error: unknown) => log.warn('openclaw_not_shown', { detail: errorText(error) }));
  }
}

function items(agents: readonly OpenClawAgent[], watched: Watching | null, twoWay: boolean, now: number): Item[] {
  return [
    ...(watched === null
      ? []
      : [{ label: `$(debug-stop) ${t('Stop Watching')}`, description: plainLabel(watched.key), choice: 'stop' as const }]),
    ...(watched?.place.type === 'folder'
      ? [
          {
            label: twoWay ? `$(lock) ${t('Keep Replies Here')}` : `$(edit) ${t('Write Replies to OpenClaw…')}`,
            description: twoWay ? t('OpenClaw’s files are only read again') : t('What is said here goes on in OpenClaw too'),
            choice: 'replies' as const,
          },
        ]
      : []),
    ...agents.flatMap(({ agent, place, sessions }): Item[] => [
      {
        label: plainLabel(place.type === 'database' ? t('{0} (database: replies stay here)', agent) : agent),
        kind: QuickPickItemKind.Separator,
      },
      ...sessions.map(({ key, sessionId, updatedAt, label, displayName }) => ({
        label: `${key === watched?.key ? '$(eye) ' : ''}${plainLabel(key)}`,
        description: plainLabel(
          [label ?? displayName, updatedAt === null ? null : ago(updatedAt, now), sessionId].filter((part) => part !== null).join(' · '),
        ),
        choice: { key },
      })),
    ]),
  ];
}

function nothingFound({ paths, unreadable }: FoundOpenClaw): string {
  const [first] = unreadable;
  if (first) return t('The sessions of OpenClaw’s agent {0} could not be read. {1}', first.agent, first.reason);
  return t(
    'No sessions of OpenClaw were found in {0}. If its agents are elsewhere, set threadkeeper.openclaw.path to their folder.',
    paths.join(', '),
  );
}

/** The user's own settings where no folder is open. */
async function save(name: 'openclaw.inherit' | 'openclaw.sessionKey', value: unknown): Promise<void> {
  await workspace
    .getConfiguration()
    .update(settingKey(name), value, workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global);
}

/** Never a workspace's to say: it writes to files outside of it. */
async function saveReplies(on: boolean): Promise<void> {
  await workspace.getConfiguration().update(settingKey('openclaw.twoWay'), on ? true : undefined, ConfigurationTarget.Global);
}
