import { basename } from 'node:path';
import { parseForeign } from '../../../core/transfer/formats/foreignJson';
import type { SourceEvent } from '../../../core/transfer/sourceRecord';
import { changedSessions, databaseKinds, type DatabaseKind, type DatabaseMark, type KindName } from '../foreign/databaseKinds';
import { FileTail } from '../foreign/fileTail';
import { ForeignDatabase } from '../foreign/foreignDatabase';
import { LivePages } from '../foreign/livePages';
import { lineFormats, type LineFormat, type LineFormatName } from '../foreign/readJsonLines';
import { take } from '../import/importFiles';
import { recordHash, type SessionWriter } from '../import/sessionWriter';
import { wholeFormats, type WholeFormat } from '../import/wholeFiles';
import { folderOf, type Intake } from './intake';
import type { Place } from './places';

/** What came of reading a source: it, or something in it, belongs here, or all of it is about other folders. */
export type Outcome = 'here' | 'elsewhere';

/** A source that is read again and again. */
export interface Followed {
  /** Takes in what is new. Rejects with what stands in the way; the next call tries again. */
  read(signal: AbortSignal): Promise<Outcome>;
  /** What is held back because more of it may follow; true: there is something. */
  readonly holds: boolean;
  /** Called when nothing has followed for a while. */
  settle(): Promise<void>;
  /** After a read that has failed, the next one goes on with what is still to be read; omitted: it needs a new reader. */
  readonly resumes?: true;
  /** What is to be remembered until the program is started again, beside the file's own stamp. */
  readonly mark?: DatabaseMark | null;
}

export function followSource(place: Place, file: string, intake: Intake, wasmFile: string, mark: DatabaseMark | null): Followed {
  switch (place.way.type) {
    case 'lines':
      return new FollowedLines(file, place.way.format, intake);
    case 'whole':
      return new FollowedFile(file, place.way.format, intake);
    case 'database':
      return new FollowedDatabase(file, place.way.format, intake, wasmFile, mark);
  }
}

/** Records after which the folder of a session is not looked for any more. */
const patience = 200;

/** Lines that are appended: only what is new is read, by a reader that has seen all before it. */
class FollowedLines implements Followed {
  private readonly tail: FileTail;
  private reader: LineFormat;
  private writer: SessionWriter | null = null;
  private line = 0;
  /** Until the session's folder is known. */
  private early: SourceEvent[] = [];
  private outcome: Outcome | null = null;
  holds = false;

  constructor(
    file: string,
    private readonly format: LineFormatName,
    private readonly intake: Intake,
  ) {
    this.tail = new FileTail(file);
    this.reader = lineFormats[format]();
  }

  async read(signal: AbortSignal): Promise<Outcome> {
    for await (const event of this.tail.read(signal)) {
      if (event.type === 'restarted') {
        this.begin();
        continue;
      }
      // The rest of the file is somebody else's too.
      if (this.outcome === 'elsewhere') break;
      const parsed = parseForeign(event.text);
      const fallbackId = basename(this.tail.file).replace(/\.jsonl$/, '');
      this.take(this.reader.read(parsed ? parsed.value : event.text, this.line++, recordHash(event.text), this.idFrom(fallbackId)));
      if (this.writer?.isFull) await this.writer.flushAhead();
    }
    // A session that says nothing of its folder yet may say it with its next line.
    if (this.outcome === null && this.early.length > 0 && this.intake.options.isWanted(null)) this.decide();
    if (this.writer) await this.intake.save(this.writer);
    this.holds = this.outcome === 'here' && this.reader.release !== undefined;
    return this.outcome ?? 'here';
  }

  async settle(): Promise<void> {
    this.holds = false;
    this.take(this.reader.release?.() ?? []);
    if (this.writer) await this.intake.save(this.writer);
  }

  /** `events.jsonl` is called so in every session: its folder names it. */
  private idFrom(name: string): string {
    return name === 'events' ? basename(this.tail.file.slice(0, -'/events.jsonl'.length)) : name;
  }

  private begin(): void {
    [this.reader, this.writer, this.line, this.early, this.outcome] = [lineFormats[this.format](), null, 0, [], null];
  }

  private take(events: readonly SourceEvent[]): void {
    if (this.outcome === 'elsewhere') return;
    if (this.outcome === null) {
      this.early.push(...events);
      if (folderOf(this.early) !== null || this.early.length > patience) this.decide();
      return;
    }
    for (const event of events) {
      if (event.type === 'session') this.writer ??= this.intake.writer(this.format, this.tail.file, event.session);
      else if (this.writer) take(this.writer, event);
    }
  }

  private decide(): void {
    const { early } = this;
    this.early = [];
    this.outcome = this.intake.options.isWanted(folderOf(early)) ? 'here' : 'elsewhere';
    this.take(early);
  }
}

/** A file in which anything may change: read as a whole. */
class FollowedFile implements Followed {
  readonly holds = false;

  constructor(
    private readonly file: string,
    private readonly format: WholeFormat,
    private readonly intake: Intake,
  ) {}

  async read(signal: AbortSignal): Promise<Outcome> {
    const events = await wholeFormats[this.format](this.file);
    return (await this.intake.takeAll(events, this.format, this.file, signal)) ? 'here' : 'elsewhere';
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }
}

/** Sessions read in one look; more of them would hold up what is written to another source meanwhile. */
const sessionsAtOnce = 20;

type Tried = { readonly events: readonly SourceEvent[] } | { readonly id: string; readonly error: unknown };

/** A database, of which only the pages are read in which something has changed. */
class FollowedDatabase implements Followed {
  readonly holds = false;
  private readonly pages: LivePages;
  private readonly kind: DatabaseKind;
  /** Sessions that are still to be read, as of `mark`. */
  private waiting: string[] = [];
  readonly resumes = true;

  constructor(
    private readonly file: string,
    private readonly format: KindName,
    private readonly intake: Intake,
    private readonly wasmFile: string,
    private seen: DatabaseMark | null,
  ) {
    this.pages = new LivePages(file);
    this.kind = databaseKinds[format];
  }

  /** Null while sessions wait: what is remembered must not say that they were read. */
  get mark(): DatabaseMark | null {
    return this.waiting.length > 0 ? null : this.seen;
  }

  async read(signal: AbortSignal): Promise<Outcome> {
    const { ids, mark } = await ForeignDatabase.glance(this.pages, this.wasmFile, (database) =>
      changedSessions(database, this.kind, this.seen),
    );
    this.seen = mark;
    // What has changed last comes first.
    this.waiting = [...ids].reverse().concat(this.waiting.filter((id) => !ids.includes(id)));
    // They stay among those that wait, so that they are tried again.
    const unread = new Map<string, unknown>();
    for (;;) {
      signal.throwIfAborted();
      const next = this.waiting.filter((id) => !unread.has(id)).slice(0, sessionsAtOnce);
      if (next.length === 0) break;
      const found = await ForeignDatabase.glance(this.pages, this.wasmFile, (database) => next.map((id) => this.tried(database, id)));
      for (const one of found) {
        if ('error' in one) unread.set(one.id, one.error);
        else await this.intake.takeAll(one.events, this.format, this.file, signal);
      }
      this.waiting = this.waiting.filter((id) => unread.has(id) || !next.includes(id));
    }
    if (unread.size > 0) throw [...unread.values()][0];
    return 'here';
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  /** What is wrong with a session keeps no other one out. */
  private tried(database: ForeignDatabase, id: string): Tried {
    try {
      return { events: this.session(database, id) };
    } catch (error) {
      return { id, error };
    }
  }

  /** Nothing of a session that is about another folder, or that has gone meanwhile. */
  private session(database: ForeignDatabase, id: string): readonly SourceEvent[] {
    const folder = this.kind.folder?.(database, id);
    if (folder !== undefined && !this.intake.options.isWanted(folder)) return [];
    return this.kind.exists?.(database, id) === false ? [] : this.kind.events(database, id);
  }
}
