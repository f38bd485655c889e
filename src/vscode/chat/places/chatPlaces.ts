import { DisposableStore, type Disposable } from '../../../core/base/disposable';
import { Emitter } from '../../../core/base/event';
import type { StoreStatus } from '../../../core/ports';
import type { StoreChange } from '../../../core/session/storage';
import type { ReopenOptions } from '../../history/storeAccess';
import type { ActiveChat } from '../activeChat';
import { ChatController, type ChatControllerDeps, type ChatState, type PlaceMemory } from '../chatController';
import { SessionList } from '../recentSessions';
import type { SessionTabDeps } from '../sessionTab';
import { OpenChats } from './openChats';

/** One of the places that show a chat: the side bar, or an editor. */
export interface ChatPlace {
  readonly controller: ChatController;
  /** Brings it to the front. */
  reveal(options: { readonly preserveFocus: boolean }): Promise<void>;
  /** The composer takes the focus as soon as it can be typed into. */
  focusComposer(): void;
  /** Puts its session away: an empty chat takes the place of it, or the place is closed. A turn that runs goes on. */
  leave(): Promise<void>;
}

export type ChatPlacesDeps = Omit<ChatControllerDeps, 'chats' | 'list' | 'others' | 'takesNewest' | 'memory'> &
  Pick<SessionTabDeps, 'openConversation' | 'fullQuestions'> & {
    /** What the side bar had on show before a reload. */
    readonly memory: PlaceMemory;
    readonly sideBar: Pick<ChatPlace, 'reveal' | 'focusComposer'>;
    /** Sessions of editors, those included that VS Code has not given back since the window was reloaded. */
    readonly inEditors: () => readonly string[];
    /** How many sessions there are, for those who want to know without opening the store. */
    readonly noteSessions: (count: number) => void;
  };

/**
 * The side bar and the editors that show a chat, each its own session, over one history. A session is on show in one of them at most:
 * two composers over one draft, and two answers to one question, would take turns in undoing each other.
 *
 * The place in use is the one that was used last. One that is out of sight gives way to the side bar when that can be seen.
 */
export class ChatPlaces implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidChangeState = this.disposables.add(new Emitter<ChatState>());
  /** Something has changed in any place, or another one is in use; with the state of the one that is. */
  readonly onDidChangeState = this._onDidChangeState.event;
  readonly chats: OpenChats;
  readonly list: SessionList;
  readonly sideBar: ChatPlace;
  private readonly places: ChatPlace[] = [];
  private usedLast: ChatPlace;
  /** In use when something was told last. */
  private told: ChatPlace;
  private closing: Promise<void> | null = null;

  constructor(private readonly deps: ChatPlacesDeps) {
    const { store, openConversation, models, fullQuestions, log, now } = deps;
    this.list = this.disposables.add(new SessionList({ store, changed: () => this.listed(), log }));
    this.chats = this.disposables.add(new OpenChats({ openConversation, models, fullQuestions, log, now }));
    this.disposables.add(this.chats.onDidFailToStore(() => void store.check()));
    this.disposables.add(store.onDidChangeContent((change) => this.contentChanged(change)));
    // A new session gets its title with its first message, and is the newest after each.
    this.disposables.add(
      this.chats.onDidEmit(({ event: { type } }) => {
        if (type === 'session_changed' || type === 'turn_ended') this.list.readSoon();
      }),
    );
    const controller = this.controllerFor(() => this.sideBar, deps.memory, true);
    this.sideBar = { ...deps.sideBar, controller, leave: () => controller.active.newSession() };
    this.usedLast = this.told = this.sideBar;
    this.add(this.sideBar);
  }

  /** A controller for a place that is added when there is something to see of it. */
  controllerFor(place: () => ChatPlace, memory: PlaceMemory, takesNewest = false): ChatController {
    const { chats, list, deps } = this;
    const elsewhere = (uuid: string) => this.all.find((one) => one !== place() && one.controller.active.session?.uuid === uuid);
    return new ChatController({
      ...deps,
      chats,
      list,
      memory,
      takesNewest,
      others: {
        shows: (uuid) => elsewhere(uuid) !== undefined,
        keeps: (uuid) => deps.inEditors().includes(uuid),
        reveal: async (uuid) => elsewhere(uuid)?.reveal({ preserveFocus: false }),
      },
    });
  }

  /** The side bar is the first of them. */
  get all(): readonly ChatPlace[] {
    return this.places;
  }

  /** The place is told of from now on. Disposing of that leaves its session. */
  add(place: ChatPlace): Disposable {
    this.places.push(place);
    const { controller } = place;
    const changes = controller.onDidChangeState(() => this.changed());
    return {
      dispose: () => {
        changes.dispose();
        this.places.splice(this.places.indexOf(place), 1);
        if (this.usedLast === place) this.usedLast = this.sideBar;
        controller.active.close();
        controller.dispose();
        this.changed();
      },
    };
  }

  /** The user is there now. */
  use(place: ChatPlace): void {
    this.usedLast = place;
    this.seen();
  }

  /** What can be seen has changed. A place that has not opened its session yet has nothing to tell. */
  seen(): void {
    if (this.current === this.told || !this.current.controller.active.isOpened) return;
    this.changed();
  }

  /** The place in use. */
  get current(): ChatPlace {
    const { usedLast, sideBar } = this;
    return !usedLast.controller.feed.visible && sideBar.controller.feed.visible ? sideBar : usedLast;
  }

  /** The place that shows the session. */
  of(session: string): ChatPlace | undefined {
    return this.places.find(({ controller }) => controller.active.session?.uuid === session);
  }

  /** Opens a session where it is on show already, else at this place, and brings that to the front. Rejects as `openSession` does. */
  async show(session: string, at: ChatPlace, options: { readonly preserveFocus: boolean } = { preserveFocus: false }): Promise<void> {
    const here = this.places.includes(at) ? at : this.sideBar;
    const place = this.of(session) ?? here;
    await place.controller.active.openSession(session);
    await place.reveal(options);
  }

  get active(): ActiveChat {
    return this.current.controller.active;
  }

  get state(): ChatState {
    return this.current.controller.state;
  }

  /** Whether any place can be seen. */
  get visible(): boolean {
    return this.places.some(({ controller }) => controller.feed.visible);
  }

  /** UUIDs of sessions that are open here, or will be again when the chat is looked at. */
  get openSessions(): string[] {
    const { deps, chats } = this;
    return [...new Set([...chats.sessions, deps.memory.lastSession() ?? '', ...deps.inEditors()])].filter((uuid) => uuid !== '');
  }

  /**
   * Closes the store once no turn runs and opens it again (StoreAccess.reopen), then reads the open chats anew. New turns wait.
   * Rejects with what `between` or opening failed with.
   */
  async reopenStore(options: ReopenOptions): Promise<StoreStatus> {
    const { chats, deps, sideBar } = this;
    const reopen = async () => {
      await chats.idle();
      return (await deps.store.reopen(options)).status;
    };
    const whileReopened = this.places.reduce<() => Promise<StoreStatus>>(
      (work, { controller }) =>
        () =>
          controller.active.whileReopened(work),
      reopen,
    );
    const status = await whileReopened();
    if (!sideBar.controller.active.isOpened) await sideBar.controller.ready();
    return status;
  }

  /** Ends what runs and closes the store. Nothing durable depends on it. */
  close(): Promise<void> {
    this.closing ??= this.chats.close().then(() => this.deps.store.close());
    return this.closing;
  }

  dispose(): void {
    void this.close();
    for (const { controller } of this.places) controller.dispose();
    this.disposables.dispose();
  }

  private listed(): void {
    for (const { controller } of this.places) controller.listed(this.list.sessions);
    this.deps.noteSessions(this.list.count);
  }

  private contentChanged({ kind }: StoreChange): void {
    if (kind === 'entries' || kind === 'session' || kind === 'branch' || kind === 'all') this.list.readSoon();
  }

  private changed(): void {
    this.told = this.current;
    this._onDidChangeState.fire(this.state);
  }
}
