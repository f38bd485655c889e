import { transcriptPageSize } from '../../core/branches/branching';
import type { Conversation } from '../../core/chat/conversation';
import { untilAccepted, type ConversationEvent, type CompactionResult } from '../../core/chat/events';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import { Emitter, type Event } from '../../core/base/event';
import type { ModelBinding } from '../../core/context/engine';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { Logger, SessionStore } from '../../core/ports';
import type { Fork, TranscriptPage } from '../../core/branches/branch';
import { kindOf, type StoredEntry } from '../../core/session/entry';
import { isBlank, isSame, nothingWritten, type Draft, type Written, type QueuedMessage } from '../../core/session/userMessage';
import type { Session } from '../../core/session/session';
import type { Delta, OlderPage } from '../../protocol/messages';
import { ChatPresenter } from './chatPresenter';
import type { FullQuestions } from '../context/fullQuestions';
import type { ModelSource } from '../models/modelSource';
import type { WaitingSession } from './waitingSession';

/** How a conversation gets its model: at first, and before every turn. */
export interface SessionModel {
  readonly fallback: ModelBinding;
  readonly resolve: () => Promise<ModelBinding>;
}

export type OpenConversation = (store: SessionStore, session: Session, model: SessionModel) => Promise<Conversation>;

export interface SessionTabDeps {
  readonly store: SessionStore;
  readonly openConversation: OpenConversation;
  readonly models: ModelSource;
  readonly fullQuestions: Pick<FullQuestions, 'answer'>;
  readonly log: Logger;
  readonly now: () => number;
}

/** Pages that are read at once when an entry is looked for. */
const pagesForSearch = 10;
const unreadableRemark = () =>
  t('Some of what was attached to this draft cannot be read. It is kept in the history as it is; attach it again.');

/** An open session: its conversation, what the view shows of it, and the text that has not been sent. */
export class SessionTab implements Disposable {
  private readonly disposables = new DisposableStore();
  private readonly _onDidSend = this.disposables.add(new Emitter<Delta>());
  readonly onDidSend = this._onDidSend.event;
  private readonly _onDidOutgrowDeltas = this.disposables.add(new Emitter<void>());
  /** The view needs a complete snapshot. */
  readonly onDidOutgrowDeltas = this._onDidOutgrowDeltas.event;
  private readonly _onDidEmit = this.disposables.add(new Emitter<ConversationEvent>());
  /** After the presenter has taken the event in. */
  readonly onDidEmit = this._onDidEmit.event;
  readonly presenter: ChatPresenter;
  draft: Written = nothingWritten;
  /** The draft as the store has it, as far as this window knows: where the composer holds just that, nobody has written here since. */
  private storedDraft: Written = nothingWritten;
  /** What waited when the session was opened, and stands at the head of the draft now. */
  private takenBack: Written = nothingWritten;
  /** What the user has to know of the draft. */
  draftRemark: string | undefined;
  /** Messages whose text is in the draft, but that could not be saved: they stay in the queue on disk. */
  private keptInQueue = false;

  private constructor(
    readonly conversation: Conversation,
    private readonly deps: SessionTabDeps,
  ) {
    this.presenter = new ChatPresenter(conversation, {
      send: (delta) => this._onDidSend.fire(delta),
      resync: () => this._onDidOutgrowDeltas.fire(),
      reread: (uuids) => void this.reread(uuids),
      modelName: (id) => deps.models.names.of(id),
      now: deps.now,
    });
    this.disposables.add(
      conversation.onDidEmit((event) => {
        this.presenter.handle(event);
        this._onDidEmit.fire(event);
      }),
    );
  }

  /** Rejects with `StoreError`. */
  static async open(deps: SessionTabDeps, session: Session): Promise<SessionTab> {
    const { store, models } = deps;
    let opened: SessionTab | null = null;
    const resolve = () => {
      if (opened) return models.resolve(opened.session.model);
      return models.resolveInTime(session.model, () => void opened?.conversation.refreshModel());
    };
    const conversation = await deps.openConversation(store, session, { fallback: models.fallback(session.model), resolve });
    const chat = (opened = new SessionTab(conversation, deps));
    try {
      await chat.read();
    } catch (error) {
      chat.dispose();
      throw error;
    }
    return chat;
  }

  private async read(): Promise<void> {
    const { conversation, presenter, session } = this;
    const { store } = this.deps;
    presenter.handle({ type: 'pins_changed', pins: await conversation.pins() });
    presenter.handle({ type: 'savings_changed', savings: await conversation.savings() });
    presenter.load(await this.page(undefined));
    const draft = await store.draft(session.uuid);
    this.draft = this.storedDraft = writtenOf(draft);
    if (draft?.unreadable) this.draftRemark = unreadableRemark();
    if (store.status.access !== 'readonly') await this.takeQueueBack();
    this.disposables.add(
      store.onDidChange((change) => {
        if (change.kind === 'queue' || change.kind === 'all') void this.adoptQueue();
        else if (change.kind === 'draft' && change.session === session.uuid) void this.followDraft();
      }),
    );
    await conversation.follow();
  }

  get session(): Session {
    return this.conversation.session;
  }

  /** `provider/model`; null: whatever the settings say. */
  get model(): string | null {
    return this.session.model;
  }

  /** What the turn waits for the user to say; null: nothing. */
  get waiting(): WaitingSession | null {
    const { session, presenter, conversation } = this;
    const calls = conversation.approvals.pending.length;
    if (presenter.isFull) return { session, for: 'decision', questions: 1 };
    return calls > 0 ? { session, for: 'permission', questions: calls } : null;
  }

  /**
   * Resolves when the message is on disk or in the queue; rejects, in words for the user, when it is neither. `stale` is the draft
   * that this message was: what has been written since stays.
   */
  async send(id: string, { text, attachments }: Written, stale: Written): Promise<void> {
    const { conversation, draft } = this;
    // On disk it stays until the message is there.
    if (isSame(draft, stale)) this.draft = nothingWritten;
    try {
      await untilAccepted((accepted) => conversation.send(text, id, attachments, accepted));
    } catch (error) {
      if (isNothing(this.draft)) this.draft = draft;
      throw error;
    }
    if (!isNothing(draft) || !isNothing(this.draft)) await this.saveDraft(this.draft);
  }

  /** Asks again; resolves when the request is under way. */
  async retry(id: string): Promise<void> {
    const { conversation } = this;
    await untilAccepted((accepted) => conversation.retry(id, accepted));
  }

  /**
   * Folds the older part. A turn that asks what to do about the full context is told to: it would be waited for by what it waits for. Never
   * rejects.
   */
  async compact(instructions: string | null, summary?: string): Promise<CompactionResult> {
    const { conversation, presenter, session, deps } = this;
    if (deps.fullQuestions.answer(session.uuid, instructions === null ? 'summarize' : { summarize: instructions }))
      return foldedByTurn(conversation.onDidEmit, this.disposables);
    try {
      return await conversation.compact(instructions, summary);
    } finally {
      presenter.settle();
    }
  }

  /** Queued messages go back to the composer, in front of what stands there. */
  async stop(): Promise<void> {
    this.presenter.stopping();
    // One whose turn begins right now becomes an entry: in the composer as well it would be sent twice.
    const queued = this.conversation.queued.filter(({ id }) => !this.conversation.queue.isFixed(id));
    // The store works in the order it is asked: the text stands in the draft before it leaves the queue.
    const saved = this.giveBack(queued);
    await this.conversation.stop();
    if (await saved) return;
    this.keptInQueue = true;
    await this.saveQueue(queued);
  }

  /** Stops what runs and sends a queued message next. False when it does not wait any more. */
  sendQueued(id: string): Promise<boolean> {
    if (!this.conversation.queue.isFixed(id)) this.presenter.stopping();
    return this.conversation.sendQueued(id);
  }

  async older(before: string): Promise<OlderPage> {
    return this.presenter.older(await this.page(before));
  }

  /** Names of models have become known: the rows that show their ids are shown anew. Never rejects. */
  async named(models: ReadonlySet<string>): Promise<void> {
    const entries = this.presenter.unnamedOf(models);
    if (entries.length === 0) return;
    try {
      this.presenter.named(await this.deps.store.entries(entries));
    } catch (error) {
      this.deps.log.warn('names_not_shown', { detail: errorText(error) });
    }
  }

  /** Rows of older pages look different now: their entries are in the store alone. Never rejects. */
  private async reread(uuids: readonly string[]): Promise<void> {
    try {
      this.presenter.anew(await this.deps.store.entries(uuids));
    } catch (error) {
      this.deps.log.warn('rows_not_shown', { detail: errorText(error) });
    }
  }

  /** The row that shows an entry; null when the branch that is shown does not lead to it. Rejects with `StoreError`. */
  async rowOf(uuid: string): Promise<string | null> {
    const { store } = this.deps;
    const [entry] = await store.entries([uuid]);
    if (!entry) return null;
    for (let before: string | undefined; ; ) {
      const { entries, hasMore } = await store.page(this.session.uuid, {
        limit: pagesForSearch * transcriptPageSize,
        ...(before === undefined ? {} : { before }),
      });
      const found = entries.find((one) => one.uuid === uuid);
      const { content } = entry;
      // A result stands in the row of its call.
      if (found && content.type === 'tool_result')
        return entries.find((one) => one.content.type === 'tool_call' && one.content.callId === content.callId)?.uuid ?? null;
      if (found && content.type === 'label') return content.target;
      if (found) return showsAlone(found) ? uuid : null;
      const oldest = entries[0];
      if (!hasMore || !oldest || oldest.seq < entry.seq) return null;
      before = oldest.uuid;
    }
  }

  /** Kept in memory; on disk as well where this window may write: false when that failed. Never rejects. */
  async saveDraft(draft: Written): Promise<boolean> {
    this.draft = draft;
    const { store, log, now } = this.deps;
    if (store.status.access === 'readonly') return true;
    try {
      await store.saveDraft(this.session.uuid, isNothing(draft) ? null : { ...draft, at: now() });
      this.storedDraft = draft;
    } catch (error) {
      log.warn('draft_not_saved', { detail: errorText(error) });
      return false;
    }
    if (this.keptInQueue) {
      this.keptInQueue = false;
      await this.saveQueue(this.conversation.queued);
    }
    return true;
  }

  /** Puts `after` into the composer where it holds just `before`. Never rejects. */
  async replaceDraft(before: Written, after: Written): Promise<void> {
    if (!isSame(this.draft, before)) return;
    this.show(after, before.text);
    await this.saveDraft(after);
  }

  dispose(): void {
    this.conversation.dispose();
    this.disposables.dispose();
  }

  /** What waited when the process ended is not sent unasked: the answer it was written for may never have come. */
  private async takeQueueBack(): Promise<void> {
    const { queued } = this.conversation;
    const before = this.draft;
    if (queued.length === 0) return;
    const given = joined(queued);
    // The draft begins with it when the last process ended between the two writes.
    if (beginsWith(before, given) || (await this.giveBack(queued))) {
      this.takenBack = given;
      await this.conversation.stop();
    }
    // It goes on waiting, in sight.
    else this.draft = before;
  }

  /**
   * Goes on with what stands in the composer of the tab that was read anew: the view keeps that. What waited comes in front of it. Never
   * rejects.
   */
  async goOnFrom({ draft: composer, storedDraft }: SessionTab): Promise<void> {
    const isGivenBack = !isNothing(this.takenBack) && !beginsWith(composer, this.takenBack);
    this.draft = isGivenBack ? joined([this.takenBack, ...(isBlank(composer) ? [] : [composer])]) : composer;
    if (isGivenBack) this.show(this.draft);
    // What was not written here is another window's to save.
    if (isGivenBack || !isSame(composer, storedDraft)) await this.saveDraft(this.draft);
  }

  /** As when the session is opened, for a window that has ended since. Never rejects. */
  private async adoptQueue(): Promise<void> {
    try {
      const left = await this.conversation.leftInQueue();
      if (left.length > 0 && (await this.giveBack(left))) await this.saveQueue(this.conversation.queued);
    } catch (error) {
      this.deps.log.warn('queue_not_adopted', { detail: errorText(error) });
    }
  }

  /**
   * Two windows that show the same text must not both send it: where another window sends it or writes on in it, it goes from here
   * or grows here, unless somebody has gone on writing here. An empty composer stays empty: what is being typed elsewhere is nobody's
   * business here. Never rejects.
   */
  private async followDraft(): Promise<void> {
    const { draft: before, deps } = this;
    if (isNothing(before) || !isSame(before, this.storedDraft)) return;
    try {
      const draft = writtenOf(await deps.store.draft(this.session.uuid));
      if (this.draft !== before || isSame(draft, before)) return;
      this.storedDraft = draft;
      // Written in a composer that never showed this text: it is another draft, and this one stays.
      if (!isNothing(draft) && !draft.text.startsWith(before.text)) return;
      this.draft = draft;
      this.show(draft, before.text);
    } catch (error) {
      deps.log.warn('draft_not_followed', { detail: errorText(error) });
    }
  }

  /** Puts messages in front of what stands in the composer; false when that could not be saved. */
  private async giveBack(messages: readonly QueuedMessage[]): Promise<boolean> {
    if (messages.length === 0) return true;
    const draft = joined([...messages, ...(isBlank(this.draft) ? [] : [this.draft])]);
    this.show(draft);
    return this.saveDraft(draft);
  }

  /** In the composer; with `replaces` only where the composer holds just that. */
  private show({ text, attachments }: Written, replaces?: string): void {
    this._onDidSend.fire({
      kind: 'draft',
      text,
      ...(attachments.length > 0 ? { attachments: [...attachments] } : {}),
      ...(replaces === undefined ? {} : { replaces }),
    });
  }

  private async saveQueue(messages: readonly QueuedMessage[]): Promise<void> {
    const { store, log } = this.deps;
    await store.saveQueue(this.session.uuid, messages).catch((error: unknown) => log.warn('queue_not_saved', { detail: errorText(error) }));
  }

  /** A page with at least one row, or the last one: entries that show nothing must not look like the beginning. */
  private async page(before: string | undefined): Promise<TranscriptPage> {
    let entries: StoredEntry[] = [];
    let forks: Fork[] = [];
    let beyondLeaf: readonly string[] | undefined;
    for (let cursor = before; ; cursor = entries[0]?.uuid) {
      const page = await this.deps.store.page(this.session.uuid, {
        limit: transcriptPageSize,
        ...(cursor === undefined ? {} : { before: cursor }),
      });
      entries = [...page.entries, ...entries];
      forks = [...page.forks, ...forks];
      beyondLeaf ??= page.beyondLeaf;
      if (!page.hasMore || page.entries.length === 0 || entries.some(showsAlone))
        return {
          entries,
          hasMore: page.hasMore && page.entries.length > 0,
          forks,
          beyondLeaf,
          ...(page.earlier ? { earlier: page.earlier } : {}),
        };
    }
  }
}

function joined(messages: readonly (Written | QueuedMessage)[]): Written {
  const texts = messages.map(({ text }) => text).filter((text) => text !== '');
  return { text: texts.join('\n\n'), attachments: messages.flatMap(({ attachments = [] }) => attachments) };
}

/** Whether it stands at the head of a draft already. */
function beginsWith(draft: Written, head: Written): boolean {
  const text = head.text === '' || draft.text === head.text || draft.text.startsWith(`${head.text}\n\n`);
  return (
    text && head.attachments.every(({ hash, name }, at) => draft.attachments[at]?.hash === hash && draft.attachments[at].name === name)
  );
}

function writtenOf(draft: Draft | undefined): Written {
  return draft ? { text: draft.text, attachments: draft.attachments } : nothingWritten;
}

export function isNothing({ text, attachments }: Written): boolean {
  return text === '' && attachments.length === 0;
}

function showsAlone({ content, display }: StoredEntry): boolean {
  return display && kindOf(content).hasOwnRow && !(content.type === 'thinking' && content.text === '');
}

/**
 * What comes of the compaction that the running turn makes next; nothing when it ends without one, or what `until` belongs to ends first.
 */
export function foldedByTurn(onDidEmit: Event<ConversationEvent>, until: DisposableStore): Promise<CompactionResult> {
  return new Promise((resolve) => {
    const nothing = { entry: null, message: null };
    const subscription = onDidEmit((event) => {
      // A preview that the user agrees to ends with neither, before the compaction begins.
      const hasFolded = event.type === 'compaction_ended' && (event.entry !== null || event.message !== null);
      if (!hasFolded && event.type !== 'turn_ended') return;
      resolve(hasFolded ? { entry: event.entry, message: event.message } : nothing);
      until.delete(waiting);
    });
    const waiting = until.add({
      dispose: () => {
        subscription.dispose();
        resolve(nothing);
      },
    });
  });
}
