import { t } from '../../core/l10n';
import type { IdSource, SessionStore } from '../../core/ports';
import { modeKey } from '../../core/plan/planMode';
import { chosenToolsKey } from '../../core/tools/toolBox';
import { instructionFilesKey } from '../chat/instructionSwitch';
import { sessionsToCleanUp } from '../../core/maintenance/cleanUp';
import type { PurgePreview } from '../../core/maintenance/reports';
import type { Session, SessionDetails, SessionPatch } from '../../core/session/session';
import type { ChatPlace, ChatPlaces } from '../chat/places/chatPlaces';

export interface SessionActionsDeps {
  readonly store: { get(): Promise<SessionStore> };
  readonly places: Pick<ChatPlaces, 'sideBar' | 'all' | 'list' | 'openSessions' | 'chats'>;
  readonly ids: IdSource;
  readonly now: () => number;
  /** Folder of the workspace; null: there is none. */
  readonly cwd: string | null;
  /** Sessions of this workspace have changed. */
  readonly changed: () => void;
}

/** What can be done with a session, whether or not it is open. Everything rejects with `StoreError`, and then nothing has changed. */
export class SessionActions {
  constructor(private readonly deps: SessionActionsDeps) {}

  async find(uuid: string): Promise<Session | undefined> {
    return (await this.deps.store.get()).session(uuid);
  }

  async rename(uuid: string, title: string): Promise<void> {
    await this.deps.places.sideBar.controller.renameSession(title, uuid);
    this.deps.changed();
  }

  pin(sessions: readonly Session[], pinned: boolean): Promise<void> {
    return this.patch(sessions, { pinnedAt: pinned ? this.deps.now() : null });
  }

  /** One that is on show makes room for an empty chat, or its editor is closed; a turn that runs there goes on. True when that happened. */
  async archive(sessions: readonly Session[], archived: boolean): Promise<boolean> {
    await this.patch(sessions, { archivedAt: archived ? this.deps.now() : null });
    return archived && this.leave(sessions);
  }

  /** It is left where it is on show, and what runs there is stopped. True when that happened. */
  async trash(sessions: readonly Session[]): Promise<boolean> {
    const { places, now } = this.deps;
    for (const { uuid } of sessions) await places.chats.find(uuid)?.stop();
    await this.patch(sessions, { deletedAt: now() });
    return this.leave(sessions);
  }

  /** Rejects when none of them is there any more. */
  async restore(sessions: readonly Session[]): Promise<void> {
    const found = await Promise.all(sessions.map(({ uuid }) => this.find(uuid)));
    const kept = found.filter((session) => session !== undefined);
    if (kept.length === 0) throw new Error(t('There is nothing to restore: it was permanently deleted.'));
    await this.patch(kept, { deletedAt: null });
  }

  async trashed(): Promise<Session[]> {
    return (await this.deps.store.get()).listSessions({ trashed: true });
  }

  /** What nobody has used for more than so many days. */
  async idle(days: number): Promise<readonly Session[]> {
    const { store, places, now } = this.deps;
    return sessionsToCleanUp(await store.get(), { days, now: now(), open: places.openSessions });
  }

  async purgePreview(sessions: readonly Session[]): Promise<PurgePreview> {
    return (await this.deps.store.get()).purgePreview(sessions.map(({ uuid }) => uuid));
  }

  /** Deletes for good what is in the trash. */
  async purge(sessions: readonly Session[]): Promise<void> {
    // Another window may have moved to the trash what is on show here.
    await this.leave(sessions);
    try {
      await (await this.deps.store.get()).purge(sessions.map(({ uuid }) => uuid));
    } finally {
      this.deps.changed();
    }
  }

  /** Rejects in words for the user, or with `StoreError`, and then nothing has changed. */
  async saveDetails(uuid: string, details: SessionDetails): Promise<void> {
    if (!(await this.find(uuid))) throw new Error(t('This session does not exist any more.'));
    await this.deps.places.sideBar.controller.changeSession(uuid, details);
    this.deps.changed();
  }

  /** The session with this key, which comes into being where there is none; one in the trash is restored. Its uuid. */
  async openByKey(key: string): Promise<string> {
    const { store, ids, now, cwd } = this.deps;
    const open = await store.get();
    const session = await open.createSession({ uuid: ids.next(), key, channel: 'vscode', cwd, createdAt: now() });
    if (session.deletedAt !== null) await this.restore([session]);
    this.deps.changed();
    return session.uuid;
  }

  /** A new session that goes on from where this one stands. Undefined where nothing has been said yet. */
  async fork(uuid: string): Promise<Session | undefined> {
    const store = await this.deps.store.get();
    const session = await store.session(uuid);
    return session && session.leaf !== null ? this.forkFrom(store, session.leaf, session) : undefined;
  }

  /**
   * A new session that goes on from an entry, as `shownIn` would; null: as the entry's own session would. Its uuid. Rejects when
   * there is no such entry.
   */
  async forkAt(entry: string, shownIn: string | null): Promise<string> {
    const store = await this.deps.store.get();
    const from = shownIn ?? (await store.entries([entry]))[0]?.session;
    return (await this.forkFrom(store, entry, from === undefined ? undefined : await store.session(from))).uuid;
  }

  private async forkFrom(store: SessionStore, entry: string, from: Session | undefined): Promise<Session> {
    const { ids, now, changed } = this.deps;
    const metadata = choicesIn(from?.metadata ?? {});
    const forked = await store.forkSession(entry, { uuid: ids.next(), channel: 'vscode', metadata, createdAt: now() });
    changed();
    return forked;
  }

  private showing(sessions: readonly Session[]): ChatPlace[] {
    return this.deps.places.all.filter(({ controller }) => sessions.some(({ uuid }) => uuid === controller.active.session?.uuid));
  }

  private async leave(sessions: readonly Session[]): Promise<boolean> {
    const showing = this.showing(sessions);
    for (const place of showing) await place.leave();
    return showing.length > 0;
  }

  private async patch(sessions: readonly Session[], patch: SessionPatch): Promise<void> {
    const store = await this.deps.store.get();
    try {
      for (const { uuid } of sessions) await store.updateSession(uuid, patch);
    } finally {
      this.deps.changed();
      await this.deps.places.list.read();
    }
  }
}

/** What the user has chosen for how the conversation goes on. Tags, and what is known of an import, are of that one session. */
function choicesIn(metadata: Session['metadata']): Session['metadata'] {
  const keys = [modeKey, chosenToolsKey, instructionFilesKey].filter((key) => metadata[key] !== undefined);
  return Object.fromEntries(keys.map((key) => [key, metadata[key]]));
}
