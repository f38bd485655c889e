import type { ConversationEvent } from '../../core/chat/events';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { Emitter } from '../../core/base/event';
import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import type { SessionStore } from '../../core/ports';
import type { Session } from '../../core/session/session';
import { SessionTab, type SessionTabDeps } from './sessionTab';
import type { WaitingSession } from './waitingSession';

/** What a chat tells when it begins or ceases to wait for the user. */
const asks: ReadonlySet<ConversationEvent['type']> = new Set([
  'approval_requested',
  'approval_settled',
  'context_full',
  'context_full_answered',
]);

/** The chat on show, and those that were left while they were still answering: they finish their turn and are then closed. */
export class SessionTabs implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidFailToStore = this.disposables.add(new Emitter<void>());
  /** A turn, of any chat, could not be written. */
  readonly onDidFailToStore = this._onDidFailToStore.event;
  private readonly _onDidSwitch = this.disposables.add(new Emitter<SessionTab | null>());
  /** Another chat, or none, is on show. */
  readonly onDidSwitch = this._onDidSwitch.event;
  private readonly _onDidChange = this.disposables.add(new Emitter<void>());
  /** Something has happened in the current chat, or one that was left has ended its turn, waits for the user, or does so no longer. */
  readonly onDidChange = this._onDidChange.event;
  private readonly leaving = new Set<SessionTab>();
  private shown: SessionTab | null = null;
  private shownContext: ContextSnapshot | null = null;

  constructor(private readonly deps: Omit<SessionTabDeps, 'store'>) {}

  get current(): SessionTab | null {
    return this.shown;
  }

  /** UUIDs of the sessions in which something runs. */
  get answering(): string[] {
    return this.all()
      .filter((chat) => chat.conversation.isBusy)
      .map((chat) => chat.session.uuid);
  }

  /** Lists the sessions whose turn waits for the user, the one on show first. */
  get waiting(): WaitingSession[] {
    return this.all().flatMap(({ waiting }) => waiting ?? []);
  }

  /** UUIDs of all sessions with a chat. */
  get sessions(): string[] {
    return this.all().map((chat) => chat.session.uuid);
  }

  /** The chat on show, or one that finishes its turn. */
  find(uuid: string): SessionTab | undefined {
    return this.all().find((chat) => chat.session.uuid === uuid);
  }

  /** The context of the current chat as it was told last: making a snapshot costs a pass over the branch. */
  get context(): ContextSnapshot | null {
    return this.shownContext;
  }

  /** Opens a session, or takes it back if it is still answering, and puts it on show. Rejects with `StoreError`. */
  async show(store: SessionStore, session: Session): Promise<SessionTab> {
    const back = [...this.leaving].find((chat) => chat.session.uuid === session.uuid);
    const chat = back ?? (await this.open(store, session));
    this.leaving.delete(chat);
    this.put(chat);
    return chat;
  }

  /** Reads the current session again, from the store as it is now. Rejects with `StoreError`, and then nothing has changed. */
  async reload(store: SessionStore): Promise<void> {
    const chat = this.shown;
    if (!chat) return;
    for (;;) {
      await chat.conversation.idle();
      const session = await store.session(chat.session.uuid);
      if (chat.conversation.isBusy) continue;
      if (!session) return this.put(null);
      const fresh = await this.open(store, session);
      if (!chat.conversation.isBusy) {
        // What waited in the queue may have been put in front of it.
        if (!fresh.draft.text.endsWith(chat.draft.text) || fresh.draft.attachments.length < chat.draft.attachments.length)
          fresh.draft = chat.draft;
        return this.put(fresh);
      }
      // Something has begun in the meantime: two that write the same branch would leave each other's entries behind.
      fresh.dispose();
    }
  }

  /** Shows none. A turn that runs goes on. */
  leave(): void {
    this.put(null);
  }

  /** Resolves when no turn runs, in any chat. */
  async idle(): Promise<void> {
    for (;;) {
      const busy = [...(this.shown ? [this.shown] : []), ...this.leaving].filter((chat) => chat.conversation.isBusy);
      if (busy.length === 0) return;
      await Promise.all(busy.map((chat) => chat.conversation.idle()));
    }
  }

  /** Stops every turn, in any chat. */
  async stop(): Promise<void> {
    await Promise.all([...(this.shown ? [this.shown] : []), ...this.leaving].map((chat) => chat.stop()));
  }

  /** Ends whatever runs; resolves when it has ended, or after a second. */
  async close(): Promise<void> {
    const chats = this.all();
    for (const chat of chats) chat.dispose();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      Promise.all(chats.map((chat) => chat.conversation.idle())),
      new Promise((resolve) => (timer = setTimeout(resolve, 1_000))),
    ]);
    clearTimeout(timer);
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private all(): SessionTab[] {
    return [...(this.shown ? [this.shown] : []), ...this.leaving];
  }

  private async open(store: SessionStore, session: Session): Promise<SessionTab> {
    const chat = await SessionTab.open({ ...this.deps, store }, session);
    chat.onDidEmit((event) => {
      if (event.type === 'turn_ended' && event.error?.reason === 'store') this._onDidFailToStore.fire();
      if (chat === this.shown && event.type === 'context_changed') this.shownContext = event.snapshot;
      if (chat === this.shown ? !isTooFrequent(event) : asks.has(event.type)) this._onDidChange.fire();
    });
    return chat;
  }

  private put(next: SessionTab | null): void {
    const before = this.shown === next ? null : this.shown;
    const goesOn = before?.conversation.isBusy === true;
    this.shown = next;
    this.shownContext = next?.conversation.snapshot ?? null;
    // Before anybody asks what runs and what waits.
    if (goesOn) this.leaving.add(before);
    this._onDidSwitch.fire(next);
    if (goesOn) void this.disposeWhenIdle(before);
    else before?.dispose();
  }

  /** A chat that is taken back stays, and one that is left again while it answers is waited for again. */
  private async disposeWhenIdle(chat: SessionTab): Promise<void> {
    do await chat.conversation.idle();
    while (this.leaving.has(chat) && chat.conversation.isBusy);
    if (!this.leaving.delete(chat)) return;
    chat.dispose();
    this._onDidChange.fire();
  }
}

/** What comes many times a second, and changes nothing but the view's text. */
function isTooFrequent({ type }: ConversationEvent): boolean {
  return type === 'text_delta' || type === 'usage_reported';
}
