import { hash } from 'node:crypto';
import { titleFrom } from '../../../core/session/session';
import type { IdSource } from '../../../core/ports';
import type { UsageRecord } from '../../../core/cost/usage';
import { kindOf, type NewEntry } from '../../../core/session/entry';
import { isSaneTime, type Session } from '../../../core/session/session';
import { KindCounter, type ImportedSession } from '../../../core/transfer/importReport';
import { isObject } from '../../../core/base/json';
import { rawPrefix, isImportedId, type RecordPart, type SourceRecord, type SourceSession } from '../../../core/transfer/sourceRecord';
import { importedMetadata } from '../../../core/transfer/importedSession';
import type { ImportStore } from './importStore';
import { formerEntries } from './formerEntries';
import { HandoverLink, ownEntries } from './handoverLink';
import { batchesOf, mostCharacters } from './partSize';
import { RecordPlaces, type Ready } from './recordPlaces';
import { withContents } from './heldEdits';
import { withPictures } from './heldPictures';
import { withUuids } from './withUuids';

export interface WriterOptions {
  readonly store: ImportStore;
  readonly ids: IdSource;
  readonly now: () => number;
  /** The format is called so in keys and source ids. */
  readonly format: string;
  /** How the source is called in reports and in the session's metadata. */
  readonly source: string;
  readonly session: SourceSession;
}

/** Each batch is a transaction with its syncs; the smaller it is, the less other windows wait. */
const mostReady = 2_000;
/** So that the store begins while most is still being read; each batch after it is twice as long as the one before. */
const firstReady = 250;

/**
 * Puts the records of one foreign session into the store, as they come: the session is made with the first of them, and entries that are
 * stored already are left alone (by source, record and content). `RecordPlaces` says what follows what. Serves an import as well as a
 * watcher, which flushes after every change of the file.
 */
export class SessionWriter {
  private session: Session | null = null;
  /** The source was written from a session of ours, which it goes on. */
  private link: HandoverLink | null = null;
  private outcome: ImportedSession['outcome'] = 'known';
  private leafBefore: string | null = null;
  /** `ownTail` of `leafBefore` */
  private tail: ReadonlySet<string> | null = null;
  private finished = false;
  private readonly places: RecordPlaces;
  private readonly uuids = new Map<string, string>();
  private ready: Ready[] = [];
  private storing: Promise<void> = Promise.resolve();
  private readyCharacters = 0;
  private batch = firstReady;
  /** The key is the rank. */
  private readonly titles = new Map<number, string>();
  /** The newest title is not stored yet. */
  private hasNewTitle = false;
  private cwd: string | null;
  private added = 0;
  private known = 0;
  private readonly keptRaw = new KindCounter();
  private readonly repairs = new KindCounter();

  constructor(private readonly options: WriterOptions) {
    this.cwd = options.session.cwd ?? null;
    this.places = new RecordPlaces(options.format, options.session, this.repairs, (ready) => {
      this.ready.push(ready);
      this.readyCharacters += ready.size;
    });
  }

  get uuid(): string | null {
    return this.session?.uuid ?? null;
  }

  /** The entry that the source goes on from, as far as it has been stored. */
  get tip(): string | null {
    return this.leafUuid();
  }

  /** Whether so much is ready that it should be flushed before more is added. */
  get isFull(): boolean {
    return this.ready.length >= this.batch || this.readyCharacters >= mostCharacters;
  }

  /** Whether something is to be stored. A name alone makes no session. */
  get hasNews(): boolean {
    return this.ready.length > 0 || this.places.isWaiting || (this.hasNewTitle && this.session !== null);
  }

  /** UUID of the session; made if there is none. Rejects with `StoreError`. */
  async begin(): Promise<string> {
    return (await this.open()).uuid;
  }

  add(record: SourceRecord): void {
    this.places.add(record);
  }

  /** The last one of the highest rank is the title. Empty: there is none of this rank any more. */
  setTitle(text: string, rank: number): void {
    const before = this.title;
    this.titles.set(rank, titleFrom(text));
    this.hasNewTitle ||= this.title !== before;
  }

  setCwd(cwd: string): void {
    this.cwd ??= cwd;
  }

  setLeaf(record: string | null): void {
    this.places.leaf = record;
  }

  repaired(kind: string): void {
    this.repairs.add(kind);
  }

  /** Stores what is ready. Rejects with `StoreError`; what has been stored before stays. */
  async flush(): Promise<void> {
    await this.flushAhead();
    await this.storing;
  }

  /** Begins to, once what was begun before is stored: more can be added meanwhile. Rejects with what that one, or is to, reject with. */
  async flushAhead(): Promise<void> {
    await this.storing;
    const { ready } = this;
    [this.ready, this.readyCharacters, this.batch] = [[], 0, Math.min(this.batch * 2, mostReady)];
    this.storing = this.storeAll(ready);
    // Heard of by whoever waits for it next.
    this.storing.catch(() => undefined);
  }

  private async storeAll(ready: readonly Ready[]): Promise<void> {
    if (ready.length === 0) return;
    const { store, ids } = this.options;
    const session = await this.open();
    // The user may have gone on here since then.
    if (this.finished) [this.leafBefore, this.tail] = [(await store.session(session.uuid))?.leaf ?? null, null];
    this.finished = false;
    const named = ready.map(({ sourceId }) => sourceId);
    const known = new Map((await store.knownSources(named)).map(({ sourceId, entry }) => [sourceId, entry]));
    const own = [...(await ownEntries(store, ready, session.uuid)), ...((await this.link?.own(store, named)) ?? [])];
    for (const [sourceId, entry] of [...own, ...(await formerEntries(store, ready, known))]) known.set(sourceId, entry);
    for (const { sourceId } of ready) this.uuids.set(sourceId, known.get(sourceId) ?? ids.next());
    const fresh = ready.filter(({ sourceId }) => !known.has(sourceId));
    this.known += ready.length - fresh.length;
    if (fresh.length === 0) return;
    const tail = (this.tail ??= await this.ownTail(session.uuid));
    // More may be ready than is stored at once: a record has many parts, and others have waited for it.
    for (const batch of batchesOf(fresh, mostReady)) await this.storeBatch(batch, session.uuid, tail);
  }

  private async storeBatch(ready: readonly Ready[], session: string, tail: ReadonlySet<string>): Promise<void> {
    const { store } = this.options;
    const entries: NewEntry[] = [];
    const usage: UsageRecord[] = [];
    for (const one of ready) {
      const entry = await this.entryOf(one, session, tail);
      entries.push(entry);
      const spent = one.part.usageIsTotal ? await this.withoutStored(one.part.usage, session) : one.part.usage;
      if (spent) usage.push({ ...spent, entry: entry.uuid, kind: 'imported', at: one.at });
      if (one.part.content.type === 'custom' && one.part.content.customType.startsWith(rawPrefix))
        this.keptRaw.add(one.part.content.customType.slice(rawPrefix.length));
    }
    await store.importEntries(session, { entries, usage });
    this.added += entries.length;
    if (this.outcome === 'known') this.outcome = 'extended';
  }

  /**
   * Repairs what still waits, stores everything and puts the leaf where the source has it. Null when the source had no records. `partly`:
   * more of the source is to come another time, and with it what some records wait for; those are left for then.
   */
  async finish(end: 'complete' | 'partly' = 'complete'): Promise<ImportedSession | null> {
    if (end === 'complete') this.places.repairWaiting();
    await this.flush();
    const { store, format, source } = this.options;
    if (!this.session) return null;
    const { uuid } = this.session;
    // Where nothing has come since the last time the source has not moved, and the user may have gone on here.
    if (this.added > 0 && !this.finished) await this.moveLeaf(uuid, await this.furtherLeaf(this.leafUuid()));
    this.finished = true;
    const session = await this.named((await store.session(uuid)) ?? this.session);
    return {
      uuid,
      id: session.id,
      title: session.title,
      source,
      format,
      outcome: this.outcome,
      entriesAdded: this.added,
      entriesKnown: this.known,
      trashed: session.deletedAt !== null,
      keptRaw: this.keptRaw.list,
      repaired: this.repairs.list,
    };
  }

  /** Takes back a session that was made for entries which could not be stored. Never rejects: why they could not be is what matters. */
  async discardEmpty(): Promise<void> {
    if (!this.session || this.outcome !== 'new' || this.added > 0) return;
    const { store, now } = this.options;
    const { uuid } = this.session;
    this.session = null;
    await store
      .updateSession(uuid, { deletedAt: now() })
      .then(() => store.purge([uuid]))
      .catch(() => undefined);
  }

  /** Named anew only where nobody but the source has named it: as it was called there is noted with where it comes from. */
  private async named(session: Session): Promise<Session> {
    this.hasNewTitle = false;
    if (this.link) return session;
    const { metadata, title: called } = session;
    const from = isObject(metadata['importedFrom']) ? metadata['importedFrom'] : {};
    const title = this.title || (called === '' ? titleFrom(this.places.firstWords) : '');
    if (title === '' || title === called || called !== (from['title'] ?? '')) return session;
    return this.options.store.updateSession(session.uuid, { title, metadata: { importedFrom: { ...from, title } } });
  }

  /** The session has come from elsewhere before. */
  private get isOtherSource(): boolean {
    const from = this.session?.metadata['importedFrom'];
    return isObject(from) && typeof from['source'] === 'string' && from['source'] !== this.options.source;
  }

  private get title(): string {
    const [best] = [...this.titles].filter(([, text]) => text !== '').sort(([a], [b]) => b - a);
    return best?.[1] ?? '';
  }

  private async open(): Promise<Session> {
    if (this.session) return this.session;
    const { store, ids, format, source, session, now } = this.options;
    this.link = await HandoverLink.find(store, format, session.id);
    if (this.link) {
      this.leafBefore = this.link.session.leaf;
      return (this.session = this.link.session);
    }
    const uuid = ids.next();
    const { lastAt } = this.places;
    const createdAt = isSaneTime(session.createdAt ?? 0) ? (session.createdAt ?? lastAt) : lastAt;
    this.session = await store.createSession({
      uuid,
      key: safeKey(`import:${format}:${session.id}`),
      channel: 'import',
      cwd: this.cwd === null ? null : this.cwd.replaceAll('\0', ''),
      createdAt: createdAt > 0 ? createdAt : now(),
      metadata: { ...importedMetadata(session.metadata ?? {}), importedFrom: { format, source, id: session.id } },
    });
    if (this.session.uuid === uuid) {
      this.outcome = 'new';
      const { archivedAt, pinnedAt, costLimit } = session;
      // However old it is: what has come here just now is none of the sessions that nobody uses any more.
      const lastOpenedAt = now();
      await store.updateSession(uuid, {
        lastOpenedAt,
        ...(archivedAt === undefined ? {} : { archivedAt }),
        ...(pinnedAt === undefined ? {} : { pinnedAt }),
        ...(costLimit === undefined ? {} : { costLimit }),
      });
    }
    this.leafBefore = this.session.leaf;
    return this.session;
  }

  /**
   * The entries at the end of the session that only this program knows of (a compaction, a call, a note), and the one that they
   * follow. To the source they are nothing: what follows one of these follows them all, or the session would not go on.
   */
  private async ownTail(session: string): Promise<ReadonlySet<string>> {
    const { store } = this.options;
    const tail = new Set<string>();
    if (this.leafBefore === null || isForeign(await store.entries([this.leafBefore]))) return tail;
    for (const { entry, type } of (await store.branchSteps(session)).reverse()) {
      tail.add(entry);
      if (kindOf({ type }).isSaid || isForeign(await store.entries([entry]))) break;
    }
    return tail;
  }

  /** Undefined: nothing has come to what is stored. */
  private async withoutStored(total: RecordPart['usage'], session: string): Promise<RecordPart['usage']> {
    const stored = (await this.options.store.usageRecords(session)).filter(({ kind }) => kind === 'imported');
    const left = (of: 'input' | 'output' | 'cacheRead' | 'cacheWrite') =>
      Math.max(
        0,
        stored.reduce((rest, record) => rest - record[of], total?.[of] ?? 0),
      );
    const [input, output, cacheRead, cacheWrite] = [left('input'), left('output'), left('cacheRead'), left('cacheWrite')];
    return total && input + output + cacheRead + cacheWrite > 0 ? { ...total, input, output, cacheRead, cacheWrite } : undefined;
  }

  private async entryOf({ sourceId, parent, at, part }: Ready, session: string, tail: ReadonlySet<string>): Promise<NewEntry> {
    const { content, modelFacing, display } = part;
    const { store, now } = this.options;
    const parentEntry = parent === null ? null : (this.uuids.get(parent) ?? null);
    const translated = withUuids(content, this.options.format, (record, end) => this.uuidOf(record, end));
    return {
      uuid: this.uuids.get(sourceId)!,
      session,
      parent: parentEntry !== null && tail.has(parentEntry) ? this.leafBefore : parentEntry,
      createdAt: at > 0 ? at : now(),
      modelFacing,
      display,
      tokenEstimate: null,
      sourceId,
      content: await withContents(await withPictures(translated, part.pictures, store), part.edits, store),
    };
  }

  private uuidOf(record: string, end: 'first' | 'last'): string | null {
    const sourceId = this.places.sourceOf(record, end);
    return sourceId === null ? null : (this.uuids.get(sourceId) ?? null);
  }

  private leafUuid(): string | null {
    const sourceId = this.places.leafSource;
    return sourceId === null ? null : (this.uuids.get(sourceId) ?? null);
  }

  /** Who has the session open reads all of it again when its branch is moved: not where it stands there already. */
  private async moveLeaf(session: string, leaf: string | null): Promise<void> {
    const { store } = this.options;
    if ((await store.session(session))?.leaf !== leaf) await store.moveLeaf(session, leaf);
  }

  /**
   * Where the user has gone on here, the session stays; what is new is then another branch. So it does where another file says that it
   * were the same session and does not go on from where that ends: ids such as `telegram:123456` can be guessed, what was said cannot.
   */
  private async furtherLeaf(leaf: string | null): Promise<string | null> {
    const { leafBefore } = this;
    if (leafBefore === null) return leaf;
    const { store } = this.options;
    const before = await store.entries([leafBefore]);
    if (this.link ? this.link.isOf(before[0]?.sourceId) : !this.isOtherSource && isForeign(before)) return leaf;
    return leaf !== null && (await store.commonAncestor(leafBefore, leaf)) === leafBefore ? leaf : leafBefore;
  }
}

/** Hashes the bytes of a record. */
export function recordHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}

function isForeign([entry]: readonly NewEntry[]): boolean {
  return typeof entry?.sourceId === 'string' && !isImportedId(entry.sourceId);
}

/** SQLite strings end with a NUL, and half a character is none. */
function safeKey(key: string): string {
  return key.replace(/[\0\p{Cs}]/gu, '\ufffd');
}
