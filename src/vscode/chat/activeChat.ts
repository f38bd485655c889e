import { OnceById } from '../../core/base/onceById';
import { Serial } from '../../core/base/serial';
import { errorText } from '../../core/errors';
import { t } from '../../core/l10n';
import type { IdSource, Logger, SessionStore, StoreStatus } from '../../core/ports';
import { isBlank, isSame, joinedWritten, nothingWritten, type Attachment, type Written } from '../../core/session/userMessage';
import type { Conversation } from '../../core/chat/conversation';
import type { Session } from '../../core/session/session';
import { modeChange } from '../../core/plan/planMode';
import { chosenToolsKey } from '../../core/tools/toolBox';
import type { OlderPage } from '../../protocol/messages';
import type { WindowState } from './windowState';
import type { OpenChats } from './places/openChats';
import type { NewSessionDraft } from './newSessionDraft';
import { isNothing, type SessionTab } from './sessionTab';
import type { SessionTabs } from './sessionTabs';
import type { SessionList } from './recentSessions';
import { instructionFilesKey } from './instructionSwitch';
import type { StoreAccess } from '../history/storeAccess';
import type { ChatViewFeed } from './chatViewFeed';

/** Where else sessions are on show: no session is in two places at once. */
export interface OtherPlaces {
  shows(session: string): boolean;
  /** It will be on show in an editor that VS Code has not given back yet. */
  keeps(session: string): boolean;
  /** Brings it to the front there. */
  reveal(session: string): Promise<void>;
}

/** Whom something is meant for: a session by its UUID; null: the one that the next message begins; omitted: the one on show. */
export type Addressee = string | null | undefined;

export interface ActiveChatDeps {
  readonly store: StoreAccess;
  readonly chats: Pick<OpenChats, 'all' | 'find' | 'borrow'>;
  readonly others: OtherPlaces;
  /** Where nothing is remembered, or what is has gone, the newest session is shown. */
  readonly takesNewest: boolean;
  readonly tabs: SessionTabs;
  readonly newSession: NewSessionDraft;
  readonly list: SessionList;
  readonly feed: ChatViewFeed;
  readonly memory: Pick<WindowState, 'lastSession' | 'setLastSession'>;
  /** Another window has deleted for good what was on show here; an empty chat has taken its place. */
  readonly sessionDeleted: (title: string) => void;
  readonly cwd: string | null;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
}

/*
 *   closed ──open──▶ last session ──show / create──▶ another session
 *                      │   ▲ └──leave / deleted elsewhere──▶ none ──create──▶ new session
 *                      └───┘ the store has changed: read anew
 *
 * Which session is on show. Opening, switching and reloading happen one after the other, so that what is begun in a chat is not
 * left behind by a chat that takes its place.
 */
export class ActiveChat {
  private opened: Promise<void> | null = null;
  private readonly serial = new Serial();
  private readonly sent = new OnceById<void>();
  /** What the open chats were read from. */
  private known: ReadFrom | null = null;
  /** Opened anew, with the chat on show read from it already. */
  private reread: SessionStore | null = null;
  private closed = false;
  /** The session that began with what is on show: a view that has not heard of it yet still writes for none. */
  private begun: string | null = null;

  constructor(private readonly deps: ActiveChatDeps) {}

  get chat(): SessionTab | null {
    return this.deps.tabs.current;
  }

  get session(): Session | null {
    return this.chat?.session ?? null;
  }

  /** Whom what the user does now is meant for, also when another session is on show by the time it is done. */
  get addressee(): Addressee {
    return this.isOpened ? (this.session?.uuid ?? null) : undefined;
  }

  /** What is written and not sent. */
  get draft(): Written {
    return (this.chat ?? this.deps.newSession).draft;
  }

  get isOpened(): boolean {
    return this.opened !== null;
  }

  /** Opens the store and the last session, once. Rejects with `StoreError`; the next call tries again. */
  open(): Promise<void> {
    this.opened ??= this.inTurn(() => this.openLast()).catch((error: unknown) => {
      this.opened = null;
      throw error;
    });
    return this.opened;
  }

  /** A session without a message, which comes into being with its first one, with what was written for it last time. Never rejects. */
  async newSession(): Promise<void> {
    await this.open().catch(() => undefined);
    await this.inTurn(() => this.showNone());
    await this.resolveNewSession();
  }

  /** Brings it to the front where it is on show already. Rejects with `StoreError`, or an `Error` for a session that is gone. */
  async openSession(uuid: string): Promise<void> {
    await this.open();
    if (this.deps.others.shows(uuid)) return this.deps.others.reveal(uuid);
    await this.inTurn(async () => {
      if (this.chat?.session.uuid === uuid) return;
      const session = await (await this.deps.store.get()).session(uuid);
      if (!session) throw new Error(t('This session does not exist any more.'));
      await this.show(session);
      this.deps.feed.snapshot();
    });
  }

  /** The open conversation, for what works on its context; null in a session without a message. Rejects with `StoreError`. */
  async conversation(): Promise<Conversation | null> {
    await this.open();
    return this.chat?.conversation ?? null;
  }

  /**
   * Sends a message in a session, by default that on show; one comes into being for it where none is meant. A repeated `id` is the same
   * message. Rejects, in words for the user, when the message is neither on disk nor queued. `interrupts`: what runs is stopped for it.
   * `stale`: what the composer had saved of this very message, by default what it holds; nothing where it was not written there.
   */
  send(
    id: string,
    text: string,
    attachments: readonly Attachment[] = [],
    options: { readonly interrupts?: boolean | undefined; readonly session?: Addressee; readonly stale?: Written } = {},
  ): Promise<void> {
    const { interrupts = false, session, stale = this.draftOf(session) } = options;
    return this.sent.run(id, async () => {
      await this.open();
      await this.begin(
        () => this.find(session, () => this.createAlone(stale)),
        async (chat) => {
          // Where the session has been left, its draft is read with it.
          await chat.send(id, { text, attachments }, stale ?? { text, attachments });
          if (interrupts) await chat.sendQueued(id);
        },
      );
    });
  }

  /** Asks again in the chat on show, if there is one. */
  async retry(): Promise<void> {
    await this.begin(
      async () => ({ chat: this.chat }),
      async (chat) => chat?.retry(this.deps.ids.next()),
    );
  }

  /**
   * Changes something of a session, by default that on show: `work` is given its chat, or null for the one that the next message begins.
   * While that one comes into being this waits, and is given its chat: what it began with has been read by then. Rejects with
   * `StoreError`, or as `work` does.
   */
  async change(work: (chat: SessionTab | null) => Promise<void>, session: Addressee = undefined): Promise<void> {
    await this.open();
    const { chat } = this;
    if (chat && (session === undefined || session === chat.session.uuid)) return work(chat);
    // Another session that was opened meanwhile is not meant.
    await this.begin(() => this.find<SessionTab | null>(session ?? null, async () => null), work);
  }

  /** What a new rule covers waits no longer. */
  async rulesChanged(): Promise<void> {
    await this.open();
    for (const { conversation } of this.deps.chats.all) conversation.approvals.rulesChanged();
  }

  /** Takes a message back from the queue. Rejects, in words for the user, when it is not there any more. */
  async unqueue(id: string): Promise<Written> {
    const message = await this.chat?.conversation.unqueue(id);
    if (!message) throw new Error(t('This message has been sent already.'));
    return { ...nothingWritten, ...message };
  }

  /** Rejects, in words for the user, when what is changed is not in the queue any more. */
  async changeQueued(change: (chat: SessionTab) => Promise<boolean>): Promise<void> {
    if (!this.chat || !(await change(this.chat))) throw new Error(t('This message has been sent already.'));
  }

  async older(before: string): Promise<OlderPage> {
    return (await this.chat?.older(before)) ?? { rows: [], hasMore: false, marks: [] };
  }

  /**
   * Keeps what a view has in its composer with the session that it was written for (null: one that had not begun), also when another one
   * is on show by the time this arrives. Rejects with `StoreError`.
   */
  async keepDraft(session: string | null, written: Written): Promise<void> {
    const { chats, newSession, store, now } = this.deps;
    const shown = this.session?.uuid ?? null;
    const open = session === null ? undefined : chats.find(session);
    if (session === shown || (session === null && shown === this.begun)) return this.saveDraft(written.text, written.attachments);
    if (session === null) newSession.draft = written;
    else if (open) await open.replaceDraft(open.draft, written);
    else {
      const history = await store.get();
      const isKept = history.status.access !== 'readonly' && (await history.session(session));
      if (isKept) await history.saveDraft(session, isNothing(written) ? null : { ...written, at: now() });
    }
  }

  /**
   * Puts what could not be sent or done in a session in front of what is written there by now; where that session is gone, in front of
   * what is written for a new one. Rejects with `StoreError`.
   */
  async giveBack(session: string | null, written: Written): Promise<void> {
    const { chats, store, now } = this.deps;
    const begun = session === null && this.session?.uuid === this.begun ? this.chat : null;
    const open = session === null ? begun : chats.find(session);
    if (open) return open.replaceDraft(open.draft, joinedWritten(written, open.draft));
    const history = session === null ? null : await store.get();
    if (session === null || history?.status.access === 'readonly' || !(await history?.session(session))) return this.adopt(written);
    const before = await history?.draft(session);
    await history?.saveDraft(session, { ...joinedWritten(written, before ?? nothingWritten), at: now() });
  }

  /** Keeps what is in the composer. */
  async saveDraft(text: string, attachments: readonly Attachment[] = []): Promise<void> {
    if (this.chat) await this.chat.saveDraft({ text, attachments });
    else this.deps.newSession.draft = { text, attachments };
  }

  /** Puts `after` into the composer where it holds just `before`. Never rejects. */
  async replaceDraft(before: Written, after: Written): Promise<void> {
    await this.chat?.replaceDraft(before, after);
  }

  /** Puts something into the composer, on show or not. Rejects with `StoreError`. */
  async attachToDraft(attachment: Attachment): Promise<void> {
    await this.open();
    const { text, attachments } = (this.chat ?? this.deps.newSession).draft;
    await this.saveDraft(text, [...attachments, attachment]);
    this.deps.feed.delta({ kind: 'attach', attachment });
  }

  /**
   * Opens a session at one of its entries. False when the entry is not on the branch that is shown; the session is open then, too.
   * Rejects as `openSession` does.
   */
  async reveal(session: string, entry: string): Promise<boolean> {
    await this.openSession(session);
    const row = (await this.chat?.rowOf(entry)) ?? null;
    if (row !== null) this.deps.feed.reveal(row);
    return row !== null;
  }

  /** Asks which model a session that begins now would get. Never rejects. */
  async resolveNewSession(): Promise<void> {
    await this.deps.newSession.resolve();
    this.deps.feed.connection();
  }

  /** Has `reopen` close the store and open it again while nothing is begun here. New turns wait. Rejects as that does. */
  whileReopened(reopen: () => Promise<StoreStatus>): Promise<StoreStatus> {
    const { store } = this.deps;
    return this.inTurn(async () => {
      try {
        return await reopen();
      } finally {
        // Now, not with the reload that follows: what waits begins in the chat that is on show next.
        if (store.current && this.chat) await this.readAnew((this.reread = store.current));
      }
    });
  }

  async storeChanged(): Promise<void> {
    const { current: store } = this.deps.store;
    const before = this.known;
    this.known = store && readFrom(store);
    this.deps.feed.banner();
    // What another window writes to a store that is only read here is read when the user looks here, not at each of its writes. Which
    // of the windows owns the file makes no difference.
    const isRepaired = this.known !== null && this.known.repair !== null && this.known.repair !== before?.repair;
    const isSame = before !== null && before.store === this.known?.store && before.isCopy === this.known.isCopy && !isRepaired;
    if (store && this.isOpened && !isSame) await this.reload();
  }

  /** Reads what is open again, from the store as it is now. Never rejects. */
  async reload(): Promise<void> {
    const { store, list, feed, log } = this.deps;
    try {
      await this.inTurn(async () => {
        const { reread } = this;
        this.reread = null;
        if (!this.chat) return this.openLast();
        const from = await store.get();
        if (from !== reread) await this.readAnew(from);
      });
      await list.read();
    } catch (error) {
      log.warn('session_not_reloaded', { detail: errorText(error) });
    }
    feed.snapshot();
    if (!this.chat) await this.resolveNewSession();
  }

  /**
   * Leaves a session that has been deleted for good: that happens only while no window works in it, so nothing runs here. What the
   * user has begun to write stays. Never rejects.
   */
  async leaveDeleted(): Promise<void> {
    const { store, sessionDeleted, log } = this.deps;
    try {
      await this.inTurn(async () => {
        const { chat } = this;
        if (!chat || (await (await store.get()).session(chat.session.uuid))) return;
        await this.leaveGone(chat);
        sessionDeleted(chat.session.title);
      });
      if (!this.chat) await this.resolveNewSession();
    } catch (error) {
      log.warn('session_not_looked_up', { detail: errorText(error) });
    }
  }

  /**
   * A backup that was restored, or a repair, may not have the session that is on show: where something was being written for it, a new
   * one takes its place.
   */
  private async readAnew(store: SessionStore): Promise<void> {
    const { chat } = this;
    await this.deps.tabs.reload(store);
    if (chat && !this.chat && !isNothing(chat.draft)) await this.leaveGone(chat);
  }

  /** What was written for a session that is gone is written for a new one. */
  private async leaveGone({ draft }: SessionTab): Promise<void> {
    this.deps.newSession.adopt(draft);
    await this.showNone();
  }

  /** Puts what was written in a place that is closed in front of what is written for a new session here. */
  adopt(draft: Written): void {
    const { newSession, feed } = this.deps;
    newSession.adopt(draft);
    if (this.chat) return;
    feed.delta({ kind: 'draft', text: newSession.draft.text, attachments: [...newSession.draft.attachments] });
  }

  /** The place is closed: its chat is left, and so is whatever is being put on show in it still. */
  close(): void {
    this.closed = true;
    this.deps.tabs.leave();
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.serial.run(async () => {
      try {
        return await work();
      } finally {
        if (this.closed) this.deps.tabs.leave();
      }
    });
  }

  private async showNone(): Promise<void> {
    this.begun = null;
    this.deps.tabs.leave();
    if (!this.closed) await this.deps.memory.setLastSession(null);
    this.deps.feed.snapshot();
  }

  private async openLast(): Promise<void> {
    const { memory, list, others, takesNewest } = this.deps;
    const store = await this.deps.store.get();
    this.known = readFrom(store);
    const newest = (await list.read()).find(({ uuid }) => takesNewest && !others.shows(uuid) && !others.keeps(uuid));
    const remembered = memory.lastSession();
    if (remembered === null) return;
    const last = remembered === undefined ? undefined : await store.session(remembered);
    const isThere = last !== undefined && last.deletedAt === null && !others.shows(last.uuid);
    const session = isThere ? last : newest && (await store.session(newest.uuid));
    if (session) await this.show(session);
  }

  /** A session whose transcript is on show, since it was opened meanwhile, is left first: what follows would be taken for its own. */
  private async createAlone(stale: Written | undefined): Promise<SessionTab> {
    const { newSession } = this.deps;
    if (this.chat) {
      const { draft } = newSession;
      // In the composer it would stand beside its message.
      const isSent = stale !== undefined && isSame(draft, stale);
      if (isSent) newSession.draft = nothingWritten;
      try {
        await this.showNone();
      } finally {
        if (isSent) newSession.draft = draft;
      }
    }
    return this.create();
  }

  private async create(): Promise<SessionTab> {
    const { ids, now, cwd, newSession, tabs, feed, list } = this.deps;
    const store = await this.deps.store.get();
    const { model, policy, thinkingLevel, tools: chosen } = newSession;
    const metadata = {
      ...(chosen === null ? {} : { [chosenToolsKey]: chosen }),
      ...(newSession.heedsInstructionFiles ? {} : { [instructionFilesKey]: false }),
      ...(newSession.planning ? modeChange(true) : {}),
    };
    const created = await store.createSession({ uuid: ids.next(), channel: 'vscode', cwd, model, policy, metadata, createdAt: now() });
    const session = thinkingLevel === null ? created : await store.updateSession(created.uuid, { thinkingLevel });
    const chat = await this.show(session);
    this.begun = session.uuid;
    // In the store before it is forgotten here; what has been written since goes before it.
    if (isBlank(chat.draft) && !isBlank(newSession.draft)) await chat.saveDraft(newSession.draft);
    newSession.clear();
    // No snapshot: it would take what the user has gone on writing.
    feed.delta({ kind: 'session', session: { uuid: session.uuid, id: session.id, title: session.title } });
    feed.delta({ kind: 'context', context: tabs.context });
    feed.connection();
    void list.tryRead();
    return chat;
  }

  private async show(session: Session): Promise<SessionTab> {
    const { memory, tabs, log, now } = this.deps;
    const store = await this.deps.store.get();
    const chat = await tabs.show(store, session);
    this.begun = null;
    // What is remembered of a closed place has been forgotten.
    if (!this.closed) await memory.setLastSession(session.uuid);
    if (store.status.access !== 'readonly') {
      void store
        .updateSession(session.uuid, { lastOpenedAt: now() })
        .catch((error: unknown) => log.debug('last_opened_not_saved', { detail: errorText(error) }));
    }
    return chat;
  }

  /** The chat of a session, on show or not; `none` gives it where the next message begins one. `release` when it is not needed any more. */
  private async find<C extends SessionTab | null>(session: Addressee, none: () => Promise<C>): Promise<Found<C | SessionTab>> {
    const { chat, begun } = this;
    const shown = chat?.session.uuid ?? null;
    if (chat && (session === undefined || session === shown || (session === null && shown === begun))) return { chat };
    if (typeof session !== 'string') return { chat: await none() };
    const store = await this.deps.store.get();
    const known = await store.session(session);
    if (!known) throw new Error(t('This session does not exist any more.'));
    return this.deps.chats.borrow(store, known);
  }

  /** The draft of a session that is open here; undefined: of one that is not. */
  private draftOf(session: Addressee): Written | undefined {
    const shown = this.session?.uuid ?? null;
    if (session === undefined || session === shown || (session === null && shown === this.begun)) return this.draft;
    return session === null ? this.deps.newSession.draft : this.deps.chats.find(session)?.draft;
  }

  /** Starts something before another chat, or this one read anew, can take the place of the one that `find` gives. */
  private async begin<C extends SessionTab | null>(find: () => Promise<Found<C>>, start: (chat: C) => Promise<void>): Promise<void> {
    const { started } = await this.inTurn(async () => {
      const { chat, release } = await find();
      const started = start(chat).finally(release);
      // Handled below; until then nobody listens.
      started.catch(() => undefined);
      return { started };
    });
    await started;
  }
}

interface Found<C extends SessionTab | null> {
  readonly chat: C;
  readonly release?: () => void;
}

interface ReadFrom {
  readonly store: SessionStore;
  /** It could not be written. */
  readonly isCopy: boolean;
  /** What the repair said that it was last made anew by, in whichever window; null when it was not. */
  readonly repair: string | null;
}

function readFrom(store: SessionStore): ReadFrom {
  const { access, note } = store.status;
  return { store, isCopy: access === 'readonly', repair: note?.reason === 'recovered' ? note.detail : null };
}
