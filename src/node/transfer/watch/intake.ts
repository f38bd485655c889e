import type { IdSource, SessionStore } from '../../../core/ports';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { take } from '../import/importFiles';
import type { ImportStore } from '../import/importStore';
import { SessionWriter } from '../import/sessionWriter';

export interface IntakeOptions {
  readonly store: ImportStore & Pick<SessionStore, 'claim' | 'release'>;
  readonly ids: IdSource;
  readonly now: () => number;
  /** Whether sessions of this folder are wanted here; null: it is not known. */
  readonly isWanted: (cwd: string | null) => boolean;
  /** Something new has been stored, in the session with this uuid. */
  readonly added: (session: string) => void;
}

/** A turn runs in the session: what is new is stored once it has ended. */
export class SessionBusy extends Error {}

/** How many sessions are remembered as they were stored last. */
const mostRemembered = 1000;

/** Puts what is found in sources into the store, if it belongs here. */
export class Intake {
  /** Hashes of all records of a session, as they were stored last. */
  private readonly stored = new Map<string, string>();

  constructor(readonly options: IntakeOptions) {}

  writer(format: string, source: string, session: Extract<SourceEvent, { type: 'session' }>['session']): SessionWriter {
    const { store, ids, now } = this.options;
    return new SessionWriter({ store, ids, now, format, source, session });
  }

  /** Sessions as a whole, each beginning with its own event. Returns whether one of them belongs here. Rejects with `SessionBusy`. */
  async takeAll(events: readonly SourceEvent[], format: string, source: string, signal: AbortSignal): Promise<boolean> {
    let isWanted = false;
    for (const session of sessionsIn(events)) {
      signal.throwIfAborted();
      if (!this.options.isWanted(folderOf(session))) continue;
      isWanted = true;
      const [first, ...rest] = session;
      if (first?.type !== 'session') continue;
      const key = `${format}:${first.session.id}`;
      const state = rest
        .map((event) => (event.type === 'record' ? `${event.record.id}:${event.record.hash}` : JSON.stringify(event)))
        .join();
      if (this.stored.get(key) === state) continue;
      const writer = this.writer(format, source, first.session);
      for (const event of rest) {
        if (event.type === 'session') continue;
        take(writer, event);
        if (writer.isFull) await writer.flushAhead();
      }
      await this.save(writer);
      this.stored.delete(key);
      this.stored.set(key, state);
      const [oldest] = this.stored.keys();
      if (this.stored.size > mostRemembered && oldest !== undefined) this.stored.delete(oldest);
    }
    return isWanted;
  }

  /** Rejects with `SessionBusy`, and then nothing of it is lost: the writer keeps what is ready. */
  async save(writer: SessionWriter): Promise<void> {
    if (!writer.hasNews) return;
    const { store, ids, added } = this.options;
    const session = await writer.begin();
    const claim = ids.next();
    if (!(await store.claim(session, claim)).granted) throw new SessionBusy();
    try {
      const done = await writer.finish();
      if (done && done.entriesAdded > 0) added(session);
    } finally {
      await store.release(session, claim);
    }
  }
}

function* sessionsIn(events: readonly SourceEvent[]): Generator<readonly SourceEvent[], void, void> {
  let current: SourceEvent[] = [];
  for (const event of events) {
    if (event.type === 'session' && current.length > 0) {
      yield current;
      current = [];
    }
    current.push(event);
  }
  if (current.length > 0) yield current;
}

/** The first that is said of it. */
export function folderOf(events: readonly SourceEvent[]): string | null {
  for (const event of events) {
    if (event.type === 'session' && event.session.cwd) return event.session.cwd;
    if (event.type === 'cwd') return event.cwd;
  }
  return null;
}
