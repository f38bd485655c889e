import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { AppendBatch, MemoryWrite } from '../../../core/session/appendBatch';
import type { CalibrationRow } from '../../../core/context/measure/calibrationRow';
import type { Draft } from '../../../core/session/draft';
import type { BranchStep, BranchTip, LiveBranch } from '../../../core/branches/branch';
import type { Pin } from '../../../core/session/pin';
import type { SearchQuery, SearchResult } from '../../../core/session/searchQuery';
import type { SummaryRetry } from '../../../core/maintenance/summaryRetry';
import type { TranscriptPage } from '../../../core/branches/transcriptPage';
import type { UsageQuery, UsageRecord, UsageTotal } from '../../../core/cost/usage';
import type { PartialChunk } from '../../../core/session/partialChunk';
import type { QueuedMessage } from '../../../core/session/queuedMessage';
import type { PurgePreview } from '../../../core/maintenance/reports';
import { markTypes } from '../../../core/session/entryKinds';
import type { StoredEntry } from '../../../core/session/entry';
import type { AnalyticsQuery, AnalyticsRows } from '../../../core/analytics/rows';
import type { SessionRecord } from '../../../core/session/sessionTransfer';
import type { NewSession, Session, SessionPatch, SessionQuery } from '../../../core/session/session';
import { analyticsRows } from '../rows/analyticsRows';
import { BlobFiles } from '../rows/blobFiles';
import { branchTips } from '../rows/branchTips';
import { liveBranch, transcriptPage } from '../rows/branches';
import type { Connection } from '../database/connection';
import { DraftRows } from '../rows/draftRows';
import { EntryRows, type InsertedBefore } from '../rows/entryRows';
import { MemoryWriteRows, PinRows, SummaryRetryRows, TransferRows } from '../rows/smallTables';
import { PartialRows } from '../rows/partialRows';
import { Purge } from '../rows/purge';
import { SearchIndex } from '../search/searchIndex';
import { SearchRows } from '../search/searchRows';
import { Seals } from '../database/seals';
import { SessionRows } from '../rows/sessionRows';
import type { CoreStore } from '../client/storeProtocol';
import { TreeRows } from '../rows/treeRows';
import { UsageRows } from '../rows/usageRows';

/** The port's operations on one open database, synchronously and in the calling thread. Each write is one transaction. */
export class StoreOperations implements CoreStore {
  private readonly sessions: SessionRows;
  private readonly seals: Seals;
  private readonly rows: EntryRows;
  private readonly partials: PartialRows;
  private readonly usage: UsageRows;
  private readonly tree: TreeRows;
  private readonly drafts: DraftRows;
  private readonly pinned: PinRows;
  private readonly retries: SummaryRetryRows;
  private readonly memory: MemoryWriteRows;
  private readonly transfers: TransferRows;
  private readonly purges: Purge;
  private readonly searches: SearchRows;
  readonly index: SearchIndex;

  constructor(
    private readonly connection: Connection,
    /** It is the folder of the store, whose `blobs` belong to the database; the original's when the database is a copy. */
    folder: string,
    access: 'owner' | 'reader',
    private readonly blobs = new BlobFiles(folder),
  ) {
    this.sessions = new SessionRows(connection);
    this.seals = new Seals(connection, this.sessions);
    this.rows = new EntryRows(connection, this.blobs);
    this.partials = new PartialRows(connection, access);
    this.usage = new UsageRows(connection);
    this.tree = new TreeRows(connection);
    this.drafts = new DraftRows(connection);
    this.pinned = new PinRows(connection);
    this.retries = new SummaryRetryRows(connection);
    this.memory = new MemoryWriteRows(connection);
    this.transfers = new TransferRows(connection);
    this.index = new SearchIndex(connection, this.rows);
    this.purges = new Purge(connection, this.blobs, this.index);
    if (access === 'owner') this.purges.removeLeftovers();
    this.searches = new SearchRows(connection, this.index, this.rows, this.sessions);
  }

  createSession(session: NewSession): Session {
    return this.connection.transaction(() => this.sessions.getOrCreate(session));
  }

  session(uuid: string): Session | undefined {
    return this.sessions.find(uuid);
  }

  listSessions(query?: SessionQuery): Session[] {
    return this.sessions.list(query);
  }

  countSessions(): number {
    return this.sessions.count();
  }

  updateSession(uuid: string, patch: SessionPatch): Session {
    return this.connection.transaction(() => this.sessions.update(uuid, patch));
  }

  append(session: string, batch: AppendBatch): StoredEntry[] {
    return this.connection.transaction(() => {
      const { leaf } = this.sessions.require(session);
      const uuids = batch.entries.map(({ uuid }) => uuid);
      const known = this.rows.known(uuids);
      const isNew = batch.entries.some(({ uuid, content }) => !markTypes.has(content.type) && !known.has(uuid));
      if (batch.after !== undefined && isNew && leaf !== batch.after) {
        throw new StoreError('conflict', english('Session {0} goes on from {1}, not from {2}', session, String(leaf), String(batch.after)));
      }
      if (uuids.length > 0) this.partials.drop(uuids);
      let before: InsertedBefore | undefined;
      const results = batch.entries.map((entry, index) => {
        if (entry.session !== session)
          throw new StoreError('invalid', english('Entry {0} belongs to session {1}', entry.uuid, entry.session));
        const result = this.rows.insert(entry, batch.seqs?.[index], before, known.has(entry.uuid));
        known.add(entry.uuid);
        if (result.added) before = { seq: result.entry.seq, parent: markTypes.has(entry.content.type) ? null : entry.uuid };
        return result;
      });
      const added = results.filter((result) => result.added).map((result) => result.entry);
      for (const record of batch.usage ?? []) this.usage.add(session, record);
      for (const write of batch.memoryWrites ?? []) this.memory.add(write);
      if (added.length > 0) this.noteAppended(session, added);
      return results.map((result) => result.entry);
    });
  }

  importEntries(session: string, batch: AppendBatch): string[] {
    return this.append(session, batch).map(({ uuid }) => uuid);
  }

  purgePreview(sessions: readonly string[]): PurgePreview {
    return this.purges.preview(sessions);
  }

  purge(sessions: readonly string[]): PurgePreview {
    return this.purges.run(sessions);
  }

  moveLeaf(session: string, leaf: string | null): void {
    this.connection.transaction(() => {
      this.sessions.require(session);
      if (leaf !== null) this.rows.requireParent(leaf);
      this.sessions.setLeaf(session, leaf);
    });
  }

  forkSession(entry: string, session: NewSession): Session {
    return this.connection.transaction(() => {
      this.rows.requireParent(entry);
      const parent = this.sessions.require(this.rows.find(entry)?.session ?? '');
      const { session: fork, created } = this.sessions.getOrFork(session, parent, entry);
      if (created) {
        const kept = this.pinned.list(parent.uuid).filter(({ kind, target }) => kind !== 'entry' || this.tree.isOnBranch(target, entry));
        for (const pin of kept) this.pinned.save({ ...pin, session: fork.uuid });
      }
      return fork;
    });
  }

  branches(session: string): BranchTip[] {
    return branchTips(this.tree, this.rows, this.sessions.require(session));
  }

  commonAncestor(a: string, b: string): string | null {
    return this.tree.commonAncestor(a, b);
  }

  liveBranch(session: string): LiveBranch {
    return liveBranch(this.rows, this.usage, this.sessions.require(session), this.seals.of(session));
  }

  page(session: string, query: { readonly before?: string; readonly limit: number }): TranscriptPage {
    return transcriptPage(this.rows, this.tree, this.sessions.require(session), query);
  }

  entries(uuids: readonly string[]): StoredEntry[] {
    return this.rows.findAll(uuids);
  }

  branchSteps(session: string): BranchStep[] {
    return this.tree.steps(this.sessions.require(session).leaf);
  }

  entriesBySeq(seqs: readonly number[]): StoredEntry[] {
    return this.rows.findBySeq(seqs);
  }

  saveTokenCounts(counts: readonly { readonly entry: string; readonly tokens: number }[]): void {
    this.connection.transaction(() => {
      for (const { entry, tokens } of counts) this.rows.setTokens(entry, tokens);
    });
  }

  search(query: SearchQuery): SearchResult {
    return this.searches.search(query);
  }

  writePartial(chunk: PartialChunk): void {
    this.connection.transaction(() => this.partials.add(chunk));
  }

  streaming(session: string): PartialChunk[] {
    return this.partials.streaming(session);
  }

  recoverPartials(session: string): StoredEntry[] {
    if (this.partials.leftBehind(session).length === 0) return [];
    return this.connection.transaction(() => {
      const recovered: StoredEntry[] = [];
      for (const entry of this.partials.leftBehind(session)) {
        this.partials.drop([entry.uuid]);
        if (!('text' in entry.content) || entry.content.text === '') continue;
        const { leaf, updatedAt } = this.sessions.require(session);
        // Where the conversation stands, unless the text belongs to a branch that has been left: off the branch nobody would see
        // it. The parent may also have died unwritten with the same process.
        const isElsewhere =
          entry.parent !== null && this.rows.find(entry.parent) !== undefined && !this.tree.isOnBranch(entry.parent, leaf);
        const parent = isElsewhere ? entry.parent : leaf;
        const { entry: stored } = this.rows.insert({ ...entry, parent });
        recovered.push(stored);
        this.noteAppended(session, [stored], isElsewhere ? leaf : stored.uuid, updatedAt);
      }
      return recovered;
    });
  }

  draft(session: string): Draft | undefined {
    return this.drafts.draft(session);
  }

  saveDraft(session: string, draft: Draft | null): void {
    this.connection.transaction(() => {
      if (draft === null) return this.drafts.removeDraft(session);
      this.sessions.require(session);
      this.drafts.saveDraft(session, draft);
    });
  }

  queue(session: string): QueuedMessage[] {
    return this.drafts.queue(session);
  }

  /** `isOthers`: messages that stay, in front, whatever the new queue is. */
  saveQueue(session: string, queue: readonly QueuedMessage[], isOthers: (id: string) => boolean = () => false): void {
    this.connection.transaction(() => {
      if (queue.length > 0) this.sessions.require(session);
      const others = this.queue(session).filter(({ id }) => isOthers(id));
      this.drafts.saveQueue(session, [...others, ...queue]);
    });
  }

  putBlob(bytes: Uint8Array, mime: string): string {
    return this.connection.transaction(() => {
      const hash = this.blobs.write(bytes);
      this.rows.addBlob(hash, bytes.length, mime);
      return hash;
    });
  }

  blob(hash: string): Uint8Array | undefined {
    return this.blobs.read(hash);
  }

  pins(session: string): Pin[] {
    return this.pinned.list(session);
  }

  savePin(pin: Pin): void {
    this.connection.transaction(() => {
      this.sessions.require(pin.session);
      this.pinned.save(pin);
    });
  }

  removePin(session: string, kind: Pin['kind'], target: string): void {
    this.connection.transaction(() => this.pinned.remove(session, kind, target));
  }

  summaryRetries(session?: string): SummaryRetry[] {
    return this.retries.list(session);
  }

  saveSummaryRetry(retry: Omit<SummaryRetry, 'session'>): void {
    this.connection.transaction(() => this.retries.save(retry));
  }

  removeSummaryRetry(compaction: string): void {
    this.connection.transaction(() => this.retries.remove(compaction));
  }

  memoryWrites(session: string, { limit }: { readonly limit: number }): MemoryWrite[] {
    return this.memory.list(session, limit);
  }

  usageTotals(query: UsageQuery): UsageTotal[] {
    return this.usage.totals(query);
  }

  entrySeqs(session: string): number[] {
    return this.transfers.seqs(session);
  }

  usageRecords(session: string): UsageRecord[] {
    return this.transfers.usage(session);
  }

  restoreSession(record: SessionRecord): { session: Session; created: boolean } {
    return this.connection.transaction(() => this.sessions.restore(record));
  }

  knownSources(sourceIds: readonly string[]): { readonly sourceId: string; readonly entry: string }[] {
    return this.transfers.knownSources(sourceIds);
  }

  analyticsRows(query: AnalyticsQuery): AnalyticsRows {
    return analyticsRows(this.connection, query);
  }

  calibration(model: string): CalibrationRow[] {
    return this.connection
      .all('SELECT model, kind, factor, n FROM calibration WHERE model = ? ORDER BY kind', [model])
      .map((row) => ({ model, kind: String(row['kind']), factor: Number(row['factor']), n: Number(row['n']) }));
  }

  saveCalibration(row: CalibrationRow): void {
    this.connection.transaction(() =>
      this.connection.run('INSERT OR REPLACE INTO calibration(model, kind, factor, n, updated_at) VALUES (?, ?, ?, ?, ?)', [
        row.model,
        row.kind,
        row.factor,
        row.n,
        Date.now(),
      ]),
    );
  }

  private noteAppended(session: string, added: readonly StoredEntry[], leaf = lastMainEntry(added), updatedAt = latest(added)): void {
    this.connection.run(
      `UPDATE sessions SET leaf_entry = coalesce(?, leaf_entry), updated_at = max(updated_at, ?),
         total_tokens = total_tokens + ?, message_count = message_count + ? WHERE uuid = ?`,
      [
        leaf,
        updatedAt,
        added.reduce((sum, entry) => sum + (entry.tokenEstimate ?? 0), 0),
        added.filter((entry) => entry.content.type === 'message').length,
        session,
      ],
    );
  }
}

/** Side entries never move the leaf. */
function lastMainEntry(added: readonly StoredEntry[]): string | null {
  return added.findLast((entry) => !markTypes.has(entry.content.type))?.uuid ?? null;
}

function latest(added: readonly StoredEntry[]): number {
  return Math.max(...added.map((entry) => entry.createdAt));
}
