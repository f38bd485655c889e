import type { ConversationEvent } from '../../../core/chat/events';
import { DisposableStore, type Disposable } from '../../../core/base/disposable';
import { Emitter } from '../../../core/base/event';
import type { SessionStore } from '../../../core/ports';
import type { Session } from '../../../core/session/session';
import { SessionTab, type SessionTabDeps } from '../sessionTab';
import type { WaitingSession } from '../waitingSession';

/** Whoever has a chat on show. */
export interface ChatHolder {
  readonly current: SessionTab | null;
}

export interface ChatEvent {
  readonly chat: SessionTab;
  readonly event: ConversationEvent;
}

/**
 * The chats of all sessions that are open in this window: those on show, in the side bar and in editors, and those that were left
 * while they were still answering, which finish their turn and are then closed. A session has one chat at most.
 */
export class OpenChats implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidFailToStore = this.disposables.add(new Emitter<void>());
  /** A turn, of any chat, could not be written. */
  readonly onDidFailToStore = this._onDidFailToStore.event;
  private readonly _onDidEmit = this.disposables.add(new Emitter<ChatEvent>());
  readonly onDidEmit = this._onDidEmit.event;
  private readonly _onDidClose = this.disposables.add(new Emitter<void>());
  /** One that was left has ended its turn. */
  readonly onDidClose = this._onDidClose.event;
  private readonly holders = new Set<ChatHolder>();
  private readonly leaving = new Set<SessionTab>();
  /** How many work in one that may not be on show. */
  private readonly borrowed = new Map<SessionTab, number>();
  private readonly opening = new Map<string, Promise<SessionTab>>();

  constructor(private readonly deps: Omit<SessionTabDeps, 'store'>) {}

  /** From now on what it has on show counts as open. */
  hold(holder: ChatHolder): Disposable {
    this.holders.add(holder);
    return { dispose: () => void this.holders.delete(holder) };
  }

  /** All of them, those on show first. */
  get all(): SessionTab[] {
    const shown = [...this.holders].flatMap(({ current }) => current ?? []);
    return [...new Set([...shown, ...this.leaving, ...this.borrowed.keys()])];
  }

  /** UUIDs of the sessions in which something runs. */
  get answering(): string[] {
    return this.all.filter((chat) => chat.conversation.isBusy).map((chat) => chat.session.uuid);
  }

  get waiting(): WaitingSession[] {
    return this.all.flatMap(({ waiting }) => waiting ?? []);
  }

  /** UUIDs of all sessions with a chat. */
  get sessions(): string[] {
    return this.all.map((chat) => chat.session.uuid);
  }

  find(uuid: string): SessionTab | undefined {
    return this.all.find((chat) => chat.session.uuid === uuid);
  }

  /** The chat of a session, to be put on show: the one that is open, or a new one. Rejects with `StoreError`. */
  async take(store: SessionStore, session: Session): Promise<SessionTab> {
    const { uuid } = session;
    const open = this.find(uuid) ?? this.opening.get(uuid);
    if (open) return open;
    const opening = this.read(store, session).finally(() => this.opening.delete(uuid));
    this.opening.set(uuid, opening);
    return opening;
  }

  /** The chat of a session that need not be on show: it is open until it is released, and while it answers. Rejects with `StoreError`. */
  async borrow(store: SessionStore, session: Session): Promise<{ readonly chat: SessionTab; readonly release: () => void }> {
    const chat = await this.take(store, session);
    // From now on it is found, by whoever puts the session on show meanwhile.
    this.borrowed.set(chat, (this.borrowed.get(chat) ?? 0) + 1);
    const release = () => {
      const others = this.borrowed.get(chat)! - 1;
      if (others > 0) return void this.borrowed.set(chat, others);
      this.borrowed.delete(chat);
      if (!this.leaving.has(chat)) this.leave(chat).closed();
    };
    return { chat, release };
  }

  /** A chat over the session as it is in the store now; it belongs to the caller until it is on show. Rejects with `StoreError`. */
  async read(store: SessionStore, session: Session): Promise<SessionTab> {
    const chat = await SessionTab.open({ ...this.deps, store }, session);
    chat.onDidEmit((event) => {
      if (event.type === 'turn_ended' && event.error?.reason === 'store') this._onDidFailToStore.fire();
      this._onDidEmit.fire({ chat, event });
    });
    return chat;
  }

  /** It is on show (again). */
  keep(chat: SessionTab): void {
    this.leaving.delete(chat);
  }

  /** It is not on show any more, where it was: a turn that runs goes on. `closed` after those who show something else have been told. */
  leave(chat: SessionTab): { readonly closed: () => void } {
    if (this.isShown(chat) || this.borrowed.has(chat)) return { closed: () => undefined };
    const goesOn = chat.conversation.isBusy;
    if (goesOn) this.leaving.add(chat);
    return { closed: () => (goesOn ? void this.disposeWhenIdle(chat) : chat.dispose()) };
  }

  /** Resolves when no turn runs, in any chat. */
  async idle(): Promise<void> {
    for (;;) {
      const busy = this.all.filter((chat) => chat.conversation.isBusy);
      if (busy.length === 0) return;
      await Promise.all(busy.map((chat) => chat.conversation.idle()));
    }
  }

  /** Stops every turn, in any chat. */
  async stop(): Promise<void> {
    await Promise.all(this.all.map((chat) => chat.stop()));
  }

  /** Ends whatever runs; resolves when it has ended, or after three seconds: of the five that VS Code gives, the store needs some. */
  async close(): Promise<void> {
    const chats = this.all;
    for (const chat of chats) chat.dispose();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all(chats.map((chat) => chat.conversation.idle())),
      new Promise((resolve) => (timer = setTimeout(resolve, 3_000))),
    ]);
    clearTimeout(timer);
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private isShown(chat: SessionTab): boolean {
    return [...this.holders].some(({ current }) => current === chat);
  }

  /** A chat that is taken back stays, and one that is left again while it answers is waited for again. */
  private async disposeWhenIdle(chat: SessionTab): Promise<void> {
    do await chat.conversation.idle();
    while (this.leaving.has(chat) && chat.conversation.isBusy);
    if (!this.leaving.delete(chat)) return;
    if (this.borrowed.has(chat)) return;
    chat.dispose();
    this._onDidClose.fire();
  }
}
