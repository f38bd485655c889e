import type { Disposable } from '../../../core/base/disposable';
import { errorText } from '../../../core/errors';
import type { IdSource, Logger, SessionStore } from '../../../core/ports';
import { openClawNames, withAbout, type OpenClawAbout } from '../../../core/transfer/openClawKeys';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';
import { OpenClawTree } from '../../../core/transfer/openClawRecord';
import { FileTail, type TailEvent } from '../foreign/fileTail';
import { take } from '../import/importFiles';
import { OpenClawReplies, type ReplyOutcome } from './openClawReplies';
import { lineFormats, type LineFormat } from '../foreign/readJsonLines';
import { recordHash, SessionWriter } from '../import/sessionWriter';

export interface OpenClawWatchOptions {
  readonly source: OpenClawSource;
  readonly store: SessionStore;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
  /** Something new has been stored, in the session with this uuid. */
  readonly added: (session: string, entries: number) => void;
  /** What becomes of the replies, when it is another thing than before; and what keeps being unreadable, once. */
  readonly told?: (notice: OpenClawNotice) => void;
}

export type OpenClawNotice =
  | Exclude<ReplyOutcome, { type: 'nothing' | 'later' }>
  | { readonly type: 'failed' | 'unread'; readonly detail: string };

/** Half of what a new record may take to be seen. */
const lookEveryMs = 400;
const claimEveryMs = 100;
/** Looks between two attempts to append what could not be appended, unless something changes here: 2 s. */
const restAfterAttempt = 5;
/** Attempts after which the user is told what they fail for: OpenClaw's own writes are over by then. */
const patience = 6;
const format = 'openclaw';

interface Followed {
  readonly sessionId: string;
  readonly tail: RecordTail;
  reader: LineFormat;
  tree: OpenClawTree;
  writer: SessionWriter | null;
  line: number;
}

/**
 * Follows one session of OpenClaw: what is there already is imported, what is appended appears as it comes, and when the key points to
 * another session, that one is followed. OpenClaw's files are only read, unless `writeReplies` says otherwise.
 *
 * By looking every so often, not by events of the file system: those are missed on network drives and across renames, and two `stat`
 * calls cost nothing. `store` is to be a connection of its own: a conversation that is open in this process then learns what is new as it
 * learns what another window writes.
 */
export class OpenClawWatch {
  private followed: Followed | null = null;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private isLooking = false;
  private readonly abort = new AbortController();
  private lastTrouble = '';
  /** Looks that have failed, one after the other. */
  private failures = 0;
  private writesReplies = false;
  /** Looks until replies are looked for again; null: something has to change first. */
  private rest: number | null = 0;
  private attempts = 0;
  private lastNotice = '';
  private readonly changes: Disposable;

  constructor(private readonly options: OpenClawWatchOptions) {
    this.changes = options.store.onDidChange((change) => {
      if (change.kind === 'all' || change.session === null || change.session === this.followed?.writer?.uuid) this.rest = 0;
    });
  }

  /** Looks now and from now on. Resolves after the first look; never rejects. */
  async start(): Promise<void> {
    await this.look();
    if (this.abort.signal.aborted) return;
    // A look that takes longer than that is not followed by all those that it held up.
    this.timer = setInterval(() => void (this.isLooking || this.look()), lookEveryMs);
  }

  /** Takes in what is new. Never rejects: trouble is logged once, and the next look tries again. */
  look(): Promise<void> {
    this.looking = this.looking.then(async () => {
      if (this.abort.signal.aborted) return;
      this.isLooking = true;
      try {
        await this.followPointer();
        await this.takeNew();
        [this.lastTrouble, this.failures] = ['', 0];
        await this.sendReplies();
      } catch (error) {
        if (this.abort.signal.aborted) return;
        // What was read and not stored is read again.
        if (this.followed) this.followed = this.follow(this.followed.sessionId);
        const trouble = errorText(error);
        if (trouble !== this.lastTrouble) this.options.log.warn('openclaw_not_read', { detail: trouble });
        this.lastTrouble = trouble;
        if (++this.failures === patience) this.options.told?.({ type: 'unread', detail: trouble });
      } finally {
        this.isLooking = false;
      }
    });
    return this.looking;
  }

  /** Where the session that is followed is kept. */
  get file(): string | null {
    return this.followed?.tail.file ?? null;
  }

  /** From now on, what is said here in the session is appended to its transcript, or is not. */
  writeReplies(on: boolean): void {
    this.writesReplies = on;
    this.forgetAttempts();
  }

  /** Moves the session here to where OpenClaw stands. Rejects with `StoreError`. */
  async goToTip(): Promise<void> {
    const { store } = this.options;
    const writer = this.followed?.writer;
    if (!writer?.uuid || writer.tip === null) return;
    const { uuid, tip } = writer;
    await this.claimed(uuid, () => store.moveLeaf(uuid, tip));
    this.forgetAttempts();
  }

  /** Resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.changes.dispose();
    this.abort.abort();
    await this.looking;
  }

  private async followPointer(): Promise<void> {
    const session = await this.options.source.look();
    if (session === null || session === this.followed?.sessionId) return;
    // The last records of the session that ends here.
    await this.takeNew();
    this.options.log.info('openclaw_followed', { session });
    this.followed = this.follow(session);
    this.forgetAttempts();
  }

  private follow(sessionId: string): Followed {
    return {
      sessionId,
      tail: this.options.source.tail(sessionId),
      reader: lineFormats.openclaw(),
      tree: new OpenClawTree(),
      writer: null,
      line: 0,
    };
  }

  private async takeNew(): Promise<void> {
    const { followed } = this;
    if (!followed) return;
    if (await followed.tail.hasNews()) await this.read(followed);
    const about = this.options.source.about(followed.sessionId);
    if (!followed.writer || !about) return;
    for (const { title, rank } of openClawNames(about)) followed.writer.setTitle(title, rank);
    await this.save(followed.writer);
  }

  private async read(followed: Followed): Promise<void> {
    const { source, store, ids, now } = this.options;
    const { signal } = this.abort;
    const about = source.about(followed.sessionId);
    for await (const event of followed.tail.read(signal)) {
      if (event.type === 'restarted') {
        Object.assign(followed, { reader: lineFormats.openclaw(), tree: new OpenClawTree(), writer: null, line: 0 });
        continue;
      }
      const parsed = parseForeign(event.text);
      if (parsed) followed.tree.add(parsed.value);
      const events = followed.reader.read(parsed ? parsed.value : event.text, followed.line++, recordHash(event.text), followed.sessionId);
      for (const found of events.flatMap((one) => (one.type === 'session' && about ? withAbout(one, about) : one))) {
        if (found.type === 'session')
          followed.writer ??= new SessionWriter({ store, ids, now, format, source: followed.tail.file, session: found.session });
        else if (followed.writer) take(followed.writer, found);
      }
      if (followed.writer?.isFull) await this.save(followed.writer);
    }
    if (followed.writer) await this.save(followed.writer);
    this.rest = 0;
  }

  private async save(writer: SessionWriter): Promise<void> {
    if (!writer.hasNews) return;
    const session = await writer.begin();
    const done = await this.claimed(session, () => writer.finish());
    if (done) this.options.added(session, done.entriesAdded);
  }

  /** The work waits for the session: while a turn runs in it, in whatever window, its end is waited for. */
  private async claimed<T>(session: string, work: () => Promise<T>): Promise<T> {
    const { store, ids } = this.options;
    const claim = ids.next();
    while (!(await store.claim(session, claim)).granted) {
      await new Promise((resolve) => setTimeout(resolve, claimEveryMs));
      this.abort.signal.throwIfAborted();
    }
    try {
      return await work();
    } finally {
      await store.release(session, claim);
    }
  }

  private async sendReplies(): Promise<void> {
    if (!this.writesReplies || this.rest === null || this.rest-- > 0) return;
    const { store, ids, now } = this.options;
    const { sessionId, tail, tree, writer } = this.followed ?? {};
    if (sessionId === undefined || !writer?.uuid || !tree || !(tail instanceof FileTail)) return void (this.rest = null);
    // Before the attempt: what changes during it is looked at again.
    this.rest = null;
    let outcome: ReplyOutcome | { readonly type: 'failed' | 'unread'; readonly detail: string };
    try {
      outcome = await new OpenClawReplies({ store, ids, now, format, sessionId, session: writer.uuid, tree, tail }).send();
    } catch (error) {
      outcome = { type: 'failed', detail: errorText(error) };
    }
    if (outcome.type === 'nothing' || outcome.type === 'appended' || outcome.type === 'parted') this.attempts = 0;
    else this.rest ??= restAfterAttempt;
    if (outcome.type === 'later' || (outcome.type === 'waiting' && ++this.attempts < patience)) return;
    const notice = JSON.stringify(outcome.type === 'parted' ? outcome.type : outcome);
    if (outcome.type === 'nothing') this.lastNotice = '';
    else if (outcome.type === 'appended' || notice !== this.lastNotice) this.options.told?.(outcome);
    this.lastNotice = notice;
  }

  private forgetAttempts(): void {
    [this.rest, this.attempts, this.lastNotice] = [0, 0, ''];
  }
}

/** What grows: the records of one session, each once. */
export interface RecordTail {
  /** How it is called in reports and in the session's metadata. */
  readonly file: string;
  /** Whether something may have come since the last `read`. Never rejects. */
  hasNews(): Promise<boolean>;
  read(signal?: AbortSignal): AsyncGenerator<TailEvent, void, void>;
}

/** Where an agent of OpenClaw keeps its sessions; of these, the one that a key names. Only ever read. */
export interface OpenClawSource {
  /** Looks anew. The session that the key points to; null: that cannot be known at the moment. Rejects when it cannot be read. */
  look(): Promise<string | null>;
  /** What was known at the last look of the session that the key points to, beside its records; null of any other. */
  about(sessionId: string): OpenClawAbout | null;
  /** Reads from its first record on. */
  tail(sessionId: string): RecordTail;
}
