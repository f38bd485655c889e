import type { ConversationEvent } from '../../core/chat/events';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { Emitter } from '../../core/base/event';
import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import type { SessionStore } from '../../core/ports';
import type { Session } from '../../core/session/session';
import type { OpenChats } from './places/openChats';
import type { SessionTab } from './sessionTab';
import type { WaitingSession } from './waitingSession';

/** What a chat tells when it begins or ceases to wait for the user. */
const asks: ReadonlySet<ConversationEvent['type']> = new Set([
  'approval_requested',
  'approval_settled',
  'context_full',
  'context_full_answered',
]);

/** The chat on show in one place, among all that are open in this window. */
export class SessionTabs implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidSwitch = this.disposables.add(new Emitter<SessionTab | null>());
  /** Another chat, or none, is on show. */
  readonly onDidSwitch = this._onDidSwitch.event;
  private readonly _onDidChange = this.disposables.add(new Emitter<void>());
  /** Something has happened in the current chat, or another one has ended its turn, waits for the user, or does so no longer. */
  readonly onDidChange = this._onDidChange.event;
  private shown: SessionTab | null = null;
  private shownContext: ContextSnapshot | null = null;

  constructor(private readonly chats: OpenChats) {
    this.disposables.add(chats.hold(this));
    this.disposables.add(chats.onDidClose(() => this._onDidChange.fire()));
    this.disposables.add(
      chats.onDidEmit(({ chat, event }) => {
        const isShown = chat === this.shown;
        if (isShown && event.type === 'context_changed') this.shownContext = event.snapshot;
        if (isShown ? !isTooFrequent(event) : asks.has(event.type)) this._onDidChange.fire();
      }),
    );
  }

  get current(): SessionTab | null {
    return this.shown;
  }

  /** UUIDs of the sessions in which something runs, on show or not. */
  get answering(): string[] {
    return this.chats.answering;
  }

  /** Lists the sessions whose turn waits for the user, the one on show here first. */
  get waiting(): WaitingSession[] {
    const own = this.shown?.session.uuid;
    const all = this.chats.waiting;
    return [...all.filter(({ session }) => session.uuid === own), ...all.filter(({ session }) => session.uuid !== own)];
  }

  /** The context of the current chat as it was told last: making a snapshot costs a pass over the branch. */
  get context(): ContextSnapshot | null {
    return this.shownContext;
  }

  /** Opens a session, or takes it back if it is still answering, and puts it on show. Rejects with `StoreError`. */
  async show(store: SessionStore, session: Session): Promise<SessionTab> {
    const chat = await this.chats.take(store, session);
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
      const fresh = await this.chats.read(store, session);
      if (!chat.conversation.isBusy) {
        this.put(fresh);
        // The view is told of what goes in front of it.
        return fresh.goOnFrom(chat);
      }
      // Something has begun in the meantime: two that write the same branch would leave each other's entries behind.
      fresh.dispose();
    }
  }

  /** Shows none. A turn that runs goes on. */
  leave(): void {
    this.put(null);
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private put(next: SessionTab | null): void {
    const before = this.shown === next ? null : this.shown;
    this.shown = next;
    this.shownContext = next?.conversation.snapshot ?? null;
    if (next) this.chats.keep(next);
    // Before anybody asks what runs and what waits.
    const left = before && this.chats.leave(before);
    this._onDidSwitch.fire(next);
    left?.closed();
  }
}

/** What comes many times a second, and changes nothing but the view's text. */
function isTooFrequent({ type }: ConversationEvent): boolean {
  return type === 'text_delta' || type === 'usage_reported';
}
