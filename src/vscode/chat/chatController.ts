import type { CompactionResult } from '../../core/chat/events';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { Emitter } from '../../core/base/event';
import { resolveBudget } from '../../core/context/measure/budget';
import { draftSize } from '../../core/context/measure/draftSize';
import { estimateTokens } from '../../core/context/measure/estimateTokens';
import { resolveSessionPolicy, type PolicyChoice } from '../../core/context/policy/resolvePolicy';
import { errorText } from '../../core/errors';
import type { IdSource, Logger } from '../../core/ports';
import { offlineProvider } from '../../core/recall/history';
import type { Attachment } from '../../core/session/userMessage';
import type { StoreChange } from '../../core/session/storage';
import type { SessionDetails } from '../../core/session/session';
import type { ContextSnapshot } from '../../core/context/measure/snapshot';
import { t, wholeNumber } from '../../core/l10n';
import type { ViewSnapshot } from '../../protocol/messages';
import type { WindowState } from './windowState';
import { ActiveChat, type OtherPlaces } from './activeChat';
import { NewSessionDraft } from './newSessionDraft';
import type { ModelSource } from '../models/modelSource';
import { SessionTabs } from './sessionTabs';
import { SessionChoices } from './sessionChoices';
import type { OpenChats } from './places/openChats';
import type { SessionList } from './recentSessions';
import type { StoreAccess } from '../history/storeAccess';
import { ChatViewFeed } from './chatViewFeed';
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

/** What one place that shows a chat finds again after a reload of the window. */
export type PlaceMemory = Pick<
  WindowState,
  'lastSession' | 'setLastSession' | 'newSessionDraft' | 'setNewSessionDraft' | 'dismissedBanners'
>;

export interface ChatControllerDeps {
  readonly store: StoreAccess;
  /** It holds the chats of the whole window. */
  readonly chats: OpenChats;
  readonly list: SessionList;
  readonly others: OtherPlaces;
  /** Where nothing is remembered, or what is has gone, the newest session is shown. */
  readonly takesNewest: boolean;
  readonly models: ModelSource;
  readonly memory: PlaceMemory;
  readonly isTrusted: () => boolean;
  /** What the settings say of how the context is managed. */
  readonly policy: () => PolicyChoice;
  /** Another window has deleted for good what was on show here; an empty chat has taken its place. */
  readonly sessionDeleted: (title: string) => void;
  readonly cwd: string | null;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Holds the parts of the chat in one place, the side bar or an editor, that its page and commands work on, whether or not a page
 * exists, and does what takes several of them. The store is opened when it is first needed.
 */
export class ChatController implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidChangeState = this.disposables.add(new Emitter<ChatState>());
  readonly onDidChangeState = this._onDidChangeState.event;
  /** Which session is on show, and what is begun in it. */
  readonly active: ActiveChat;
  readonly tabs: SessionTabs;
  readonly feed: ChatViewFeed;
  readonly list: SessionList;
  readonly choices: SessionChoices;
  private readonly newSession: NewSessionDraft;

  constructor(private readonly deps: ChatControllerDeps) {
    const { store, chats, list, models, isTrusted, policy, log } = deps;
    const newSession = (this.newSession = new NewSessionDraft(models, deps.memory, log));
    this.list = list;
    const tabs = (this.tabs = this.disposables.add(new SessionTabs(chats)));
    const isDismissed = deps.memory.dismissedBanners.has;
    const feed = (this.feed = this.disposables.add(
      new ChatViewFeed({ store, models, isTrusted, policy, isDismissed, newSession, sessions: () => list.sessions }),
    ));
    const active = (this.active = new ActiveChat({ ...deps, tabs, newSession, feed }));
    this.choices = new SessionChoices({ current: active, newSession, connectionChanged: () => this.connectionChanged() });
    this.disposables.add(store.onDidChange(() => void active.storeChanged()));
    this.disposables.add(store.onDidChangeContent((change) => this.contentChanged(change)));
    this.disposables.add(models.names.onDidLearn((ids) => void tabs.current?.named(ids)));
    this.disposables.add(
      tabs.onDidSwitch((chat) => {
        feed.follow(chat);
        this.changed();
      }),
    );
    this.disposables.add(tabs.onDidChange(() => this.changed()));
  }

  /** The surface has nothing: opens what was open last and answers with everything. Never rejects. */
  async ready(): Promise<void> {
    try {
      await this.active.open();
      await this.list.read();
    } catch (error) {
      this.deps.log.warn('view_without_history', { detail: errorText(error) });
    }
    this.feed.snapshot();
    if (!this.active.chat) await this.active.resolveNewSession();
  }

  /** The user looks here again: takes over or re-reads a store that another window owned, or retries one that failed. */
  async catchUp(): Promise<void> {
    const { store } = this.deps;
    if (store.failure !== null) return this.ready();
    if (store.current?.status.access !== 'readonly') return;
    await store.catchUp();
    // A change of ownership has been answered by `storeChanged`.
    if (store.current?.status.access === 'readonly') await this.active.reload();
  }

  get state(): ChatState {
    const { active, tabs, list } = this;
    const turn = active.chat?.presenter.turnState ?? null;
    return {
      isOpened: active.isOpened,
      hasSession: active.chat !== null || list.count > 0,
      canUndo: (tabs.context?.compactions ?? 0) > 0,
      busy: turn !== null,
      compacting: turn?.phase === 'compacting',
      waiting: tabs.waiting,
      context: tabs.context,
    };
  }

  /** The session on show, or another one. Rejects with `StoreError`. */
  async renameSession(title: string, other?: string): Promise<void> {
    await this.active.open();
    const name = title.trim().replace(/\s+/g, ' ').slice(0, 200);
    const uuid = other ?? this.active.session?.uuid;
    if (name === '' || uuid === undefined) return;
    await this.changeSession(uuid, { title: name });
  }

  /** Rejects with `StoreError`, and then nothing has changed. */
  async changeSession(uuid: string, details: SessionDetails): Promise<void> {
    const chat = this.deps.chats.find(uuid);
    if (chat) await chat.conversation.changeDetails(details);
    else await (await this.deps.store.get()).updateSession(uuid, details);
    await this.list.read();
  }

  /** Resolves with whether some of a draft is too long to be sent whole. A session that has begun shows its size. */
  async measureDraft(text: string, attachments: readonly Attachment[] = []): Promise<boolean> {
    const conversation = await this.active.conversation();
    if (conversation) return conversation.measureDraft(text, attachments);
    const { modelInfo, policy } = this.newSession;
    if (modelInfo.provider === offlineProvider) return false;
    const { oversized } = resolveBudget(resolveSessionPolicy(this.deps.policy(), policy).policy, modelInfo);
    return draftSize(estimateTokens(text), attachments, oversized).isCut;
  }

  /** Folds the older part of the open session. Rejects with `StoreError` when the history cannot be opened. */
  async compact(instructions: string | null = null, summary?: string): Promise<CompactionResult> {
    await this.active.open();
    const { chat } = this.active;
    if (!chat) return { entry: null, message: t('There is nothing to compact: this session has no messages yet.'), isNothing: true };
    return chat.compact(instructions, summary).finally(() => this.changed());
  }

  /** Asks `confirm` first when the restored context would not fit. With `only`, undoes no other compaction than that one. */
  async undoCompaction(
    confirm: (question: string) => Promise<boolean>,
    only?: string,
  ): Promise<'undone' | 'declined' | { readonly message: string }> {
    const conversation = await this.active.conversation();
    const preview = conversation?.undoPreview();
    if (!conversation || !preview) return { message: t('There is no compaction to undo.') };
    const isLast = (target: string) => conversation.undoPreview()?.target === target;
    const notLast = () => ({ message: t('This compaction is not the last one any more.') });
    if (only !== undefined && !isLast(only)) return notLast();
    const limit = conversation.snapshot.limit;
    const question = t(
      'The restored context has about {0} tokens and the model takes {1}, so the next message will be compacted again. Undo anyway?',
      wholeNumber(preview.tokensRestored),
      wholeNumber(limit),
    );
    if (!preview.fits) {
      if (!(await confirm(question))) return 'declined';
      // The question may have stood there for a while: it was not about another compaction.
      if (!isLast(preview.target)) return notLast();
    }
    const { message } = await conversation.undoCompaction();
    return message === null ? 'undone' : { message };
  }

  /** Key, address, settings or the user's mind have changed. Never rejects. */
  async connectionChanged(): Promise<void> {
    const { active } = this;
    if (active.chat) await active.chat.conversation.refreshModel();
    else if (active.isOpened) await active.resolveNewSession();
    this.feed.connection();
    this.feed.banner();
  }

  /** Closes what it says for good. Never rejects. */
  async dismissBanner(banner: string): Promise<void> {
    await this.deps.memory.dismissedBanners.add(banner);
    this.feed.banner();
    this.changed();
  }

  /** The newest sessions have been read anew. */
  listed(sessions: ViewSnapshot['sessions']): void {
    this.feed.delta({ kind: 'sessions', sessions });
    this.changed();
  }

  dispose(): void {
    this.disposables.dispose();
  }

  /** Open sessions follow by themselves. */
  private contentChanged(change: StoreChange): void {
    if (change.kind === 'all' || (change.kind === 'session' && change.session === null)) void this.active.leaveDeleted();
  }

  private changed(): void {
    this._onDidChangeState.fire(this.state);
  }
}
