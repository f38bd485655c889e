import { StoreError } from '../../core/errors';
import type { AppendBatch, CalibrationRow, Draft, LiveBranch, PartialChunk, SearchQuery, SearchResult, TranscriptPage } from '../../core/ports';
import { sideEntryTypes } from '../../core/session/entry';
import type { StoredEntry } from '../../core/session/entry';
import type { NewSession, Session, SessionPatch } from '../../core/session/session';
import { liveBranch, transcriptPage } from './branches';
import type { Connection } from './connection';
import { EntryRows } from './entryRows';
import { PartialRows } from './partialRows';
import { SearchIndex } from './searchIndex';
import { SearchRows } from './searchRows';
import { SessionRows } from './sessionRows';
import type { SyncStore } from './storeProtocol';
import { packText, unpackText } from './text';
import { UsageRows } from './usageRows';

/** The port's operations on one open database, synchronously and in the calling thread. Each write is one transaction. */
export class StoreCore implements SyncStore {
  private readonly sessions: SessionRows;
  private readonly rows: EntryRows;
  private readonly partials: PartialRows;
  private readonly usage: UsageRows;
  private readonly searches: SearchRows;
  readonly index: SearchIndex;

  constructor(
    private readonly connection: Connection,
    run: string | null,
  ) {
    this.sessions = new SessionRows(connection);
    this.rows = new EntryRows(connection);
    this.partials = new PartialRows(connection, run);
    this.usage = new UsageRows(connection);
    this.index = new SearchIndex(connection);
    this.searches = new SearchRows(connection, this.index, this.rows, this.sessions);
  }

  createSession(session: NewSession): Session {
    return this.connection.transaction(() => this.sessions.getOrCreate(session));
  }

  session(uuid: string): Session | undefined {
    return this.sessions.find(uuid);
  }

  listSessions(query?: { readonly archived?: boolean; readonly trashed?: boolean; readonly limit?: number }): Session[] {
    return this.sessions.list(query);
  }

  updateSession(uuid: string, patch: SessionPatch): Session {
    return this.connection.transaction(() => this.sessions.update(uuid, patch));
  }

  append(session: string, batch: AppendBatch): StoredEntry[] {
    return this.connection.transaction(() => {
      this.sessions.require(session);
      const results = batch.entries.map((entry) => {
        if (entry.session !== session) throw new StoreError('invalid', `Entry ${entry.uuid} belongs to session ${entry.session}`);
        this.partials.drop(entry.uuid);
        return this.rows.insert(entry);
      });
      const added = results.filter((result) => result.added).map((result) => result.entry);
      for (const record of batch.usage ?? []) this.usage.add(session, record);
      if (added.length > 0) this.noteAppended(session, added);
      return results.map((result) => result.entry);
    });
  }

  moveLeaf(session: string, leaf: string | null): void {
    this.connection.transaction(() => {
      this.sessions.require(session);
      if (leaf !== null) this.rows.requireParent(leaf);
      this.sessions.setLeaf(session, leaf);
    });
  }

  liveBranch(session: string): LiveBranch {
    return liveBranch(this.rows, this.usage, this.sessions.require(session));
  }

  page(session: string, query: { readonly before?: string; readonly limit: number }): TranscriptPage {
    return transcriptPage(this.rows, this.sessions.require(session), query);
  }

  entries(uuids: readonly string[]): StoredEntry[] {
    return this.rows.findAll(uuids);
  }

  entriesBySeq(seqs: readonly number[]): StoredEntry[] {
    return this.rows.findBySeq(seqs);
  }

  saveTokenCounts(counts: readonly { readonly entry: string; readonly tokens: number }[]): void {
    this.connection.transaction(() => {
      for (const { entry, tokens } of counts) this.rows.setTokens(entry, tokens);
    });
  }

  scan(query: { readonly session?: string; readonly beforeSeq?: number; readonly limit: number }): StoredEntry[] {
    return this.rows.scan(query);
  }

  search(query: SearchQuery): SearchResult {
    return this.searches.search(query);
  }

  writePartial(chunk: PartialChunk): void {
    this.connection.transaction(() => this.partials.add(chunk));
  }

  recoverPartials(session: string): StoredEntry[] {
    if (this.partials.leftBehind(session).length === 0) return [];
    return this.connection.transaction(() => {
      const recovered: StoredEntry[] = [];
      for (const entry of this.partials.leftBehind(session)) {
        this.partials.drop(entry.uuid);
        if (!('text' in entry.content) || entry.content.text === '') continue;
        const { leaf, updatedAt } = this.sessions.require(session);
        // Where the conversation stands, unless the text belongs to a branch that has been left: off the branch nobody would see
        // it. The parent may also have died unwritten with the same process.
        const isElsewhere = entry.parent !== null && this.rows.find(entry.parent) !== undefined && !this.isOnBranch(entry.parent, leaf);
        const parent = isElsewhere ? entry.parent : leaf;
        const { entry: stored } = this.rows.insert({ ...entry, parent });
        recovered.push(stored);
        this.noteAppended(session, [stored], isElsewhere ? leaf : stored.uuid, updatedAt);
      }
      return recovered;
    });
  }

  private isOnBranch(entry: string, leaf: string | null): boolean {
    for (let at = leaf; at !== null; at = this.rows.find(at)?.parent ?? null) if (at === entry) return true;
    return false;
  }

  draft(session: string): Draft | undefined {
    const row = this.connection.get('SELECT text, attachments_json, at FROM drafts WHERE session = ?', [session]);
    if (!row) return undefined;
    const attachments: unknown = typeof row['attachments_json'] === 'string' ? JSON.parse(row['attachments_json']) : undefined;
    return { text: unpackText(row['text']), attachments, at: Number(row['at']) };
  }

  saveDraft(session: string, draft: Draft | null): void {
    this.connection.transaction(() => {
      if (draft === null) return this.connection.run('DELETE FROM drafts WHERE session = ?', [session]);
      this.sessions.require(session);
      const attachments = draft.attachments === undefined ? null : JSON.stringify(draft.attachments);
      this.connection.run('INSERT OR REPLACE INTO drafts(session, text, attachments_json, at) VALUES (?, ?, ?, ?)', [
        session,
        packText(draft.text),
        attachments,
        draft.at,
      ]);
    });
  }

  queue(session: string): { readonly id: string; readonly text: string }[] {
    return this.connection
      .all('SELECT id, text FROM queue WHERE session = ? ORDER BY position', [session])
      .map((row) => ({ id: String(row['id']), text: unpackText(row['text']) }));
  }

  saveQueue(session: string, queue: readonly { readonly id: string; readonly text: string }[]): void {
    this.connection.transaction(() => {
      this.connection.run('DELETE FROM queue WHERE session = ?', [session]);
      if (queue.length > 0) this.sessions.require(session);
      queue.forEach(({ id, text }, position) =>
        this.connection.run('INSERT INTO queue(session, position, id, text) VALUES (?, ?, ?, ?)', [session, position, id, packText(text)]),
      );
    });
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
  return added.findLast((entry) => !sideEntryTypes.has(entry.content.type))?.uuid ?? null;
}

function latest(added: readonly StoredEntry[]): number {
  return Math.max(...added.map((entry) => entry.createdAt));
}
