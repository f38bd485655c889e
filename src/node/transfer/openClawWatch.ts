import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorText } from '../../core/errors';
import type { IdSource, Logger, SessionStore } from '../../core/ports';
import { openClawSessions } from '../../core/transfer/openClawKeys';
import { FileTail } from './fileTail';
import { take } from './importFiles';
import { lineFormats, parseLine, type LineFormat } from './readJsonLines';
import { recordHash, SessionWriter } from './sessionWriter';

export interface OpenClawWatchOptions {
  /** With `sessions.json` and the sessions' files in it. */
  readonly folder: string;
  readonly key: string;
  readonly store: SessionStore;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Logger;
  /** Something new has been stored, in the session with this uuid. */
  readonly added: (session: string) => void;
}

/** Half of what a new record may take to be seen. */
const lookEveryMs = 400;
const claimEveryMs = 100;
const format = 'openclaw';

interface Followed {
  readonly sessionId: string;
  readonly tail: FileTail;
  reader: LineFormat;
  writer: SessionWriter | null;
  line: number;
}

/**
 * Follows one session of OpenClaw: what is there already is imported, what is appended appears as it comes, and when the key points to
 * another session, that one is followed. OpenClaw's files are only read.
 *
 * By looking every so often, not by events of the file system: those are missed on network drives and across renames, and two `stat`
 * calls cost nothing. `store` is to be a connection of its own: a conversation that is open in this process then learns what is new as it
 * learns what another window writes.
 */
export class OpenClawWatch {
  private followed: Followed | null = null;
  private pointer: { readonly mtimeMs: number; readonly size: number; readonly ino: number } | null = null;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private readonly abort = new AbortController();
  private lastTrouble = '';

  constructor(private readonly options: OpenClawWatchOptions) {}

  /** Looks now and from now on. Resolves after the first look; never rejects. */
  async start(): Promise<void> {
    await this.look();
    if (this.abort.signal.aborted) return;
    this.timer = setInterval(() => void this.look(), lookEveryMs);
  }

  /** Takes in what is new. Never rejects: trouble is logged once, and the next look tries again. */
  look(): Promise<void> {
    this.looking = this.looking.then(async () => {
      if (this.abort.signal.aborted) return;
      try {
        await this.followPointer();
        await this.takeNew();
        this.lastTrouble = '';
      } catch (error) {
        if (this.abort.signal.aborted) return;
        // What was read and not stored is read again.
        if (this.followed) this.followed = follow(this.options.folder, this.followed.sessionId);
        const trouble = errorText(error);
        if (trouble !== this.lastTrouble) this.options.log.warn('openclaw_not_read', { detail: trouble });
        this.lastTrouble = trouble;
      }
    });
    return this.looking;
  }

  /** Resolves when nothing is being written any more. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.abort.abort();
    await this.looking;
  }

  /** The key names the session that goes on; a file that is being written is looked at again the next time. */
  private async followPointer(): Promise<void> {
    const { folder, key, log } = this.options;
    const file = join(folder, 'sessions.json');
    const found = await stat(file).catch(() => null);
    if (!found) return;
    const { mtimeMs, size, ino } = found;
    if (this.pointer?.mtimeMs === mtimeMs && this.pointer.size === size && this.pointer.ino === ino) return;
    const sessions = openClawSessions(await readFile(file, 'utf8'));
    if (!sessions) return;
    this.pointer = { mtimeMs, size, ino };
    const session = sessions.find((one) => one.key === key);
    if (!session || session.sessionId === this.followed?.sessionId) return;
    // The last records of the session that ends here.
    await this.takeNew();
    log.info('openclaw_followed', { key, session: session.sessionId });
    this.followed = follow(folder, session.sessionId);
  }

  private async takeNew(): Promise<void> {
    const { followed } = this;
    if (!followed || !(await followed.tail.hasNews())) return;
    const { store, ids, now } = this.options;
    const { signal } = this.abort;
    for await (const event of followed.tail.read(signal)) {
      if (event.type === 'restarted') {
        Object.assign(followed, { reader: lineFormats.openclaw(), writer: null, line: 0 });
        continue;
      }
      const parsed = parseLine(event.text);
      for (const found of followed.reader.read(parsed ? parsed.value : event.text, followed.line++, recordHash(event.text), followed.sessionId)) {
        if (found.type === 'session') followed.writer ??= new SessionWriter({ store, ids, now, format, source: followed.tail.file, session: found.session });
        else if (followed.writer) take(followed.writer, found);
      }
      if (followed.writer?.isFull) await this.save(followed.writer);
    }
    if (followed.writer) await this.save(followed.writer);
  }

  /** In the session's own time: while a turn runs in it, in whatever window, its end is waited for. */
  private async save(writer: SessionWriter): Promise<void> {
    const { store, ids, added } = this.options;
    if (!writer.hasNews) return;
    const session = await writer.begin();
    const claim = ids.next();
    while (!(await store.claim(session, claim)).granted) {
      await new Promise((resolve) => setTimeout(resolve, claimEveryMs));
      this.abort.signal.throwIfAborted();
    }
    try {
      const done = await writer.finish();
      if (done) added(session);
    } finally {
      await store.release(session, claim);
    }
  }
}

function follow(folder: string, sessionId: string): Followed {
  return { sessionId, tail: new FileTail(join(folder, `${basename(sessionId)}.jsonl`)), reader: lineFormats.openclaw(), writer: null, line: 0 };
}
