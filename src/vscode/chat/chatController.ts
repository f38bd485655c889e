import type { ApprovalAnswer, PendingApproval } from '../../core/chat/turn/approvals';
import type { CompactionResult } from '../../core/compaction/compactor';
import type { Conversation } from '../../core/chat/conversation';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { Emitter } from '../../core/base/event';
import type { PolicyChoice } from '../../core/context/policy/resolvePolicy';
import { errorText } from '../../core/errors';
import type { IdSource, Logger, StoreStatus } from '../../core/ports';
import type { SearchResult } from '../../core/session/searchQuery';
import { searchTyped } from '../../core/recall/searchTyped';
import type { StoreChange } from '../../core/session/storeChange';
import { nothingWritten, type Attachment, type Written } from '../../core/session/attachment';
import type { StoredEntry } from '../../core/session/entry';
import type { Session, SessionDetails } from '../../core/session/session';
import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import { t, wholeNumber } from '../../core/l10n';
import type { OlderPage, ViewSnapshot } from '../../protocol/messages';
import type { WindowState } from './windowState';
import { ActiveChat } from './activeChat';
import type { FullQuestions } from '../context/fullQuestions';
import { NewSessionDraft } from './newSessionDraft';
import type { ModelSource } from '../models/modelSource';
import type { OpenConversation } from './sessionTab';
import { OnceById } from './onceById';
import { SessionTabs } from './sessionTabs';
import { SessionChoices } from './sessionChoices';
import { sessionPolicyProblem } from './banner';
import { SessionList } from './recentSessions';
import type { ReopenOptions, StoreAccess } from '../history/storeAccess';
import { ChatViewFeed, type ChatSurface } from './chatViewFeed';
import type { WaitingSession } from './waitingSession';

export interface ChatState {
  /** Whether this window has opened its chat: until then it shows no session, whatever there is. */
  readonly isOpened: boolean;
  readonly hasSession: boolean;
  readonly canUndo: boolean;
  readonly busy: boolean;
  readonly compacting: boolean;
  /** The one on show first. */
  readonly waiting: readonly WaitingSession[];
  readonly context: ContextSnapshot | null;
}

export interface ChatControllerDeps {
  readonly store: StoreAccess;
  readonly openConversation: OpenConversation;
  readonly models: ModelSource;
  readonly memory: WindowState;
  readonly fullQuestions: Pick<FullQuestions, 'answer'>;
  readonly isTrusted: () => boolean;
  /** What the settings say of how the context is managed. */
  readonly policy: () => PolicyChoice;
  /** How many sessions there are, for those who want to know without opening the store. */
  readonly noteSessions: (count: number) => void;
  /** Another window has deleted for good what was on show here; an empty chat has taken its place. */
  readonly sessionDeleted: (title: string) => void;
  readonly cwd: string | null;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
}

/** Everything that view and commands ask for goes through here, whether or not a view exists. Opens the store when first needed. */
export class ChatController implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidChangeState = this.disposables.add(new Emitter<ChatState>());
  readonly onDidChangeState = this._onDidChangeState.event;
  private readonly chats: SessionTabs;
  private readonly loose: NewSessionDraft;
  private readonly feed: ChatViewFeed;
  private readonly list: SessionList;
  private readonly current: ActiveChat;
  readonly choices: SessionChoices;
  private readonly sent = new OnceById<void>();
  private closing: Promise<void> | null = null;

  constructor(private readonly deps: ChatControllerDeps) {
    const { store, openConversation, models, fullQuestions, isTrusted, log, now } = deps;
    this.loose = new NewSessionDraft(models, deps.memory, log);
    this.chats = this.disposables.add(new SessionTabs({ openConversation, models, fullQuestions, log, now }));
    this.list = this.disposables.add(new SessionList({ store, changed: (sessions) => this.listed(sessions), log }));
    this.feed = new ChatViewFeed({
      store,
      models,
      isTrusted,
      policyProblem: () => sessionPolicyProblem(deps.policy(), this.session?.policy ?? null),
      isDismissed: deps.memory.dismissedBanners.has,
      chat: () => this.chats.current,
      loose: this.loose,
      sessions: () => this.list.sessions,
    });
    this.current = new ActiveChat({ ...deps, chats: this.chats, loose: this.loose, list: this.list, feed: this.feed });
    this.choices = new SessionChoices({ current: this.current, loose: this.loose, connectionChanged: () => this.connectionChanged() });
    this.disposables.add(store.onDidChange(() => void this.current.storeChanged()));
    this.disposables.add(store.onDidChangeContent((change) => this.contentChanged(change)));
    this.disposables.add(this.chats.onDidSend((delta) => this.feed.delta(delta)));
    this.disposables.add(this.chats.onDidOutgrowDeltas(() => this.feed.snapshot()));
    this.disposables.add(models.names.onDidLearn((ids) => void this.chats.current?.named(ids)));
    this.disposables.add(this.chats.onDidFailToStore(() => void store.check()));
    this.disposables.add(this.chats.onDidSwitch(() => this.changed()));
    this.disposables.add(this.chats.onDidChangeLeft(() => this.changed()));
    this.disposables.add(
      this.chats.onDidEmit(({ type }) => {
        if (type === 'context_changed') this.feed.connection();
        if (type === 'session_changed') this.feed.banner();
        if (type !== 'text_delta' && type !== 'usage_reported') this.changed();
      }),
    );
  }

  // ------------------------------------------------------------------------------------------------------------- surface

  /** Makes a surface the one that is kept up to date. */
  attach(surface: ChatSurface): Disposable {
    return this.feed.attach(surface);
  }

  get viewVisible(): boolean {
    return this.feed.visible;
  }

  /** The surface has nothing: opens what was open last and answers with everything. Never rejects. */
  async ready(): Promise<void> {
    try {
      await this.open();
      await this.listSessions();
    } catch (error) {
      this.deps.log.warn('view_without_history', { detail: errorText(error) });
    }
    this.feed.snapshot();
    if (!this.chats.current) await this.current.resolveLoose();
  }

  focusComposer(): void {
    this.feed.delta({ kind: 'focus_composer' });
  }

  /** The user looks here again: takes over or re-reads a store that another window owned, or retries one that failed. */
  async catchUp(): Promise<void> {
    const { store } = this.deps;
    if (store.failure !== null) return this.ready();
    if (store.current?.status.access !== 'readonly') return;
    await store.catchUp();
    // A change of ownership has been answered by `storeChanged`.
    if (store.current?.status.access === 'readonly') await this.current.reload();
  }

  // ------------------------------------------------------------------------------------------------------------ sessions

  get session(): Session | null {
    return this.chats.current?.session ?? null;
  }

  /** UUIDs of the sessions in which a turn runs, on show or not. */
  get answering(): string[] {
    return this.chats.answering;
  }

  get state(): ChatState {
    const turn = this.chats.current?.presenter.turnState ?? null;
    const { context } = this.chats;
    return {
      isOpened: this.current.isOpened,
      hasSession: this.chats.current !== null || this.list.count > 0,
      canUndo: (context?.compactions ?? 0) > 0,
      busy: turn !== null,
      compacting: turn?.phase === 'compacting',
      waiting: this.chats.waiting,
      context,
    };
  }

  /** Opens the store and the last session, once. Rejects with `StoreError`; the next call tries again. */
  open(): Promise<void> {
    return this.current.open();
  }

  /** An empty session; it comes into being with its first message. Never rejects. */
  newSession(): Promise<void> {
    return this.current.leave();
  }

  /** Rejects with `StoreError`, or an `Error` for a session that is gone. */
  openSession(uuid: string): Promise<void> {
    return this.current.switchTo(uuid);
  }

  /** The session on show, or another one. Rejects with `StoreError`. */
  async renameSession(title: string, other?: string): Promise<void> {
    await this.open();
    const name = title.trim().replace(/\s+/g, ' ').slice(0, 200);
    const uuid = other ?? this.session?.uuid;
    if (name === '' || uuid === undefined) return;
    await this.changeSession(uuid, { title: name });
  }

  /** UUIDs of sessions that are open here, or will be again when the chat is looked at. */
  get openSessions(): string[] {
    return [...this.chats.sessions, this.deps.memory.lastSession() ?? ''].filter((uuid) => uuid !== '');
  }

  /** Rejects with `StoreError`, and then nothing has changed. */
  async changeSession(uuid: string, details: SessionDetails): Promise<void> {
    const chat = this.chats.find(uuid);
    if (chat) await chat.conversation.changeDetails(details);
    else await (await this.deps.store.get()).updateSession(uuid, details);
    await this.listSessions();
  }

  /** The newest sessions, without those in the archive. Rejects with `StoreError`. */
  listSessions(): Promise<ViewSnapshot['sessions']> {
    return this.list.read();
  }

  /** Every session of the workspace, or what the filters in the text leave of it. Rejects with `StoreError`. */
  async searchHistory(typed: string): Promise<SearchResult> {
    return searchTyped(await this.deps.store.get(), typed);
  }

  /**
   * Opens a session at one of its entries. False when the entry is not on the branch that is shown; the session is open then, too.
   * Rejects as `openSession` does.
   */
  async reveal(session: string, entry: string): Promise<boolean> {
    await this.openSession(session);
    const row = (await this.chats.current?.rowOf(entry)) ?? null;
    if (row !== null) this.feed.reveal(row);
    return row !== null;
  }

  /** Rejects with `StoreError`. */
  async entries(uuids: readonly string[]): Promise<readonly StoredEntry[]> {
    return (await this.deps.store.get()).entries(uuids);
  }

  // ---------------------------------------------------------------------------------------------------------------- turns

  /** A repeated `id` is the same message. Rejects, in words for the user, when the message is neither on disk nor queued. */
  send(id: string, text: string, attachments: readonly Attachment[] = []): Promise<void> {
    // What the composer had saved of this very message.
    const stale = this.chats.current?.draft ?? this.loose.draft;
    return this.sent.run(id, () => this.current.startOrCreate((chat) => chat.send(id, { text, attachments }, stale)));
  }

  async retry(): Promise<void> {
    await this.current.start((chat) => chat.retry(this.deps.ids.next()));
  }

  async stop(): Promise<void> {
    await this.chats.current?.stop();
  }

  async unqueue(id: string): Promise<Written> {
    const message = await this.chats.current?.conversation.unqueue(id);
    if (!message) throw new Error(t('This message has been sent already.'));
    return { ...nothingWritten, ...message };
  }

  async older(before: string): Promise<OlderPage> {
    return (await this.chats.current?.older(before)) ?? { rows: [], hasMore: false, marks: [] };
  }

  async saveDraft(text: string, attachments: readonly Attachment[] = []): Promise<void> {
    if (this.chats.current) await this.chats.current.saveDraft({ text, attachments });
    else this.loose.draft = { text, attachments };
  }

  /** Puts something into the composer, on show or not. Rejects with `StoreError`. */
  async attachToDraft(attachment: Attachment): Promise<void> {
    await this.open();
    const { text, attachments } = (this.chats.current ?? this.loose).draft;
    await this.saveDraft(text, [...attachments, attachment]);
    this.feed.delta({ kind: 'attach', attachment });
  }

  // -------------------------------------------------------------------------------------------------------------- context

  /** The open conversation, for what works on its context; null in a session without a message. Rejects with `StoreError`. */
  async conversation(): Promise<Conversation | null> {
    await this.open();
    return this.chats.current?.conversation ?? null;
  }

  /** Calls of the open session that wait for the user's permission, oldest first. */
  get approvals(): readonly PendingApproval[] {
    return this.chats.current?.conversation.approvals.pending ?? [];
  }

  /** Rejects, in words for the user, for a call that does not wait any more. */
  async answerApproval(call: string, answer: ApprovalAnswer): Promise<void> {
    if (!this.chats.current?.conversation.approvals.answer(call, answer))
      throw new Error(t('This call does not wait for an answer any more.'));
  }

  /** Folds the older part of the open session. Rejects with `StoreError` when the history cannot be opened. */
  async compact(instructions: string | null = null, summary?: string): Promise<CompactionResult> {
    await this.open();
    const chat = this.chats.current;
    if (!chat) return { entry: null, message: t('There is nothing to compact: this session has no messages yet.') };
    return chat.compact(instructions, summary).finally(() => this.changed());
  }

  cancelCompaction(): void {
    this.chats.current?.conversation.cancelCompaction();
  }

  /** Asks `confirm` first when the restored context would not fit. With `only`, undoes no other compaction than that one. */
  async undoCompaction(
    confirm: (question: string) => Promise<boolean>,
    only?: string,
  ): Promise<'undone' | 'declined' | { readonly message: string }> {
    await this.open();
    const conversation = this.chats.current?.conversation;
    const preview = conversation?.undoPreview();
    if (!conversation || !preview) return { message: t('There is no compaction to undo.') };
    if (only !== undefined && preview.target !== only) return { message: t('This compaction is not the last one any more.') };
    const limit = conversation.snapshot.limit;
    const question = t(
      'The restored context has about {0} tokens and the model takes {1}, so the next message will be compacted again. Undo anyway?',
      wholeNumber(preview.tokensRestored),
      wholeNumber(limit),
    );
    if (!preview.fits && !(await confirm(question))) return 'declined';
    const { message } = await conversation.undoCompaction();
    return message === null ? 'undone' : { message };
  }

  // --------------------------------------------------------------------------------------------------------------- models

  /** Key, address, settings or the user's mind have changed. Never rejects. */
  async connectionChanged(): Promise<void> {
    if (this.chats.current) await this.chats.current.conversation.refreshModel();
    else if (this.current.isOpened) await this.current.resolveLoose();
    this.feed.connection();
    this.feed.banner();
  }

  /** Stops the turns of every session, those that were left included. */
  stopAll(): Promise<void> {
    return this.chats.stop();
  }

  /**
   * Closes the store once no turn runs and opens it again (StoreAccess.reopen), then reads the open chat anew. New turns wait.
   * Rejects with what `between` or opening failed with.
   */
  async reopenStore(options: ReopenOptions): Promise<StoreStatus> {
    const status = await this.current.reopenStore(options);
    if (!this.current.isOpened) await this.ready();
    return status;
  }

  /** Closes what it says for good. Never rejects. */
  async dismissBanner(banner: string): Promise<void> {
    await this.deps.memory.dismissedBanners.add(banner);
    this.feed.banner();
  }

  trustChanged(): void {
    this.feed.banner();
  }

  /** Ends what runs and closes the store. Nothing durable depends on it. */
  close(): Promise<void> {
    this.closing ??= this.chats.close().then(() => this.deps.store.close());
    return this.closing;
  }

  dispose(): void {
    void this.close();
    this.disposables.dispose();
  }

  private listed(sessions: ViewSnapshot['sessions']): void {
    this.feed.delta({ kind: 'sessions', sessions });
    this.changed();
    this.deps.noteSessions(this.list.count);
  }

  /** Open sessions follow by themselves. */
  private contentChanged(change: StoreChange): void {
    const { kind } = change;
    if (kind !== 'entries' && kind !== 'session' && kind !== 'branch' && kind !== 'all') return;
    if (kind === 'all' || (kind === 'session' && change.session === null)) void this.current.leaveDeleted();
    this.list.readSoon();
  }

  private changed(): void {
    this._onDidChangeState.fire(this.state);
  }
}
