import { letGoMime } from '../../../core/rewind/fileChanges';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import {
  isEntryOf,
  markTypes,
  type ContentOf,
  type EntryOf,
  type EntryType,
  type NewEntry,
  type StoredEntry,
} from '../../../core/session/entry';
import type { BlobFiles } from './blobFiles';
import type { Connection, Row } from '../database/connection';
import {
  bodyChecksum,
  decodeEntry,
  decodeOutline,
  encodeBody,
  entryColumns,
  entrySelection,
  isSameEntry,
  outlineSelection,
  storeBody,
  type OutlinedEntry,
} from './entryCodec';
import type { Operations } from '../client/storeCalls';

const selectEntry = `SELECT ${entrySelection} FROM entries e JOIN bodies b ON b.entry = e.seq`;

/** What an insert of the same transaction has found out: it need not be asked again. */
export interface InsertedBefore {
  readonly seq: number | null;
  /** An entry that others can follow. */
  readonly parent: string | null;
}

/**
 * Characters from which a text goes to SQLite as bytes: sql.js turns strings into UTF-8 in two loops over their characters, which were a
 * sixth of the time of an import of 80 MB.
 */
const bytesFrom = 256;

const noneBefore: InsertedBefore = { seq: null, parent: null };

/** The `entries` and `bodies` tables and those that hang off them by `seq`. Writes expect to run inside a transaction. */
export class EntryRows {
  /** Put together once, as it is the same for every entry: a text made anew is hashed anew to find its prepared statement. */
  private insertion: string | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly blobs: BlobFiles,
  ) {}

  /** A row of `entrySelection`, with what is kept in a file. */
  readonly decode = (row: Row): StoredEntry => decodeEntry(row, this.blobs);

  find(uuid: string): StoredEntry | undefined {
    const row = this.row(uuid);
    return row && this.decode(row);
  }

  has(uuid: string): boolean {
    return this.connection.get('SELECT 1 FROM entries WHERE uuid = ?', [uuid]) !== undefined;
  }

  /** Tells which of them are there. */
  known(uuids: readonly string[]): Set<string> {
    const rows = this.connection.iterate('SELECT e.uuid FROM json_each(?) wanted CROSS JOIN entries e ON e.uuid = wanted.value', [
      JSON.stringify(uuids),
    ]);
    return new Set([...rows].map((row) => String(row['uuid'])));
  }

  /** They come in the order asked for; unknown ones are left out. */
  findAll(uuids: readonly string[]): StoredEntry[] {
    return uuids.flatMap((uuid) => this.find(uuid) ?? []);
  }

  findBySeq(seqs: readonly number[]): StoredEntry[] {
    return seqs.flatMap((seq) => this.connection.all(`${selectEntry} WHERE e.seq = ?`, [seq]).map(this.decode));
  }

  /**
   * As `findBySeq`, for others to keep: what comes back as damaged is so for good. Throws a `StoreError` where its file cannot be read now.
   */
  findToTell(seq: number): StoredEntry | undefined {
    const row = this.connection.get(`${selectEntry} WHERE e.seq = ?`, [seq]);
    return row && decodeEntry(row, { read: (hash) => this.blobs.readOrThrow(hash) });
  }

  /**
   * Stores the entry unless it is there already. Throws `invalid` when its parent is missing or a side entry, when its uuid
   * stands for other content, or when its compaction's operation was recorded before. `wantedSeq` is used when it is above all others.
   */
  insert(
    entry: NewEntry,
    wantedSeq = 0,
    before: InsertedBefore = noneBefore,
    isKnown = this.has(entry.uuid),
  ): { entry: StoredEntry; added: boolean } {
    // Asked for by its index first: the whole row of an entry that is not there costs seven times as much.
    const known = isKnown ? this.row(entry.uuid) : undefined;
    if (known) {
      if (!isSameEntry(known, entry))
        throw new StoreError('invalid', english('Entry {0} is already stored with other content', entry.uuid));
      return { entry: this.decode(known), added: false };
    }
    if (entry.parent !== null && entry.parent !== before.parent) this.requireParent(entry.parent);
    const { row: body, hash, bytes } = storeBody(entry.content.type, encodeBody(entry.content), this.blobs);
    if (hash !== null) this.addBlob(hash, bytes, 'text/plain');
    const seq = Math.max(wantedSeq, before.seq === null ? this.nextSeq() : before.seq + 1);
    const columns = {
      seq,
      uuid: entry.uuid,
      session: entry.session,
      parent: entry.parent,
      ...entryColumns(entry.content),
      token_estimate: entry.tokenEstimate,
      model_facing: entry.modelFacing ? 1 : 0,
      display: entry.display ? 1 : 0,
      source_id: entry.sourceId ?? null,
      created_at: entry.createdAt,
      tool_args_json: body.toolArgsJson,
    };
    this.insertion ??= insertionOf(Object.keys(columns));
    this.connection.run(this.insertion, Object.values(columns));
    const asBytes = typeof body.text === 'string' && body.text.length >= bytesFrom;
    const text = asBytes ? Buffer.from(body.text) : body.text;
    this.connection.run(
      `INSERT INTO bodies(entry, content_json, text, crc32, blob_hash) VALUES (?, ?, ${asBytes ? 'CAST(? AS TEXT)' : '?'}, ?, ?)`,
      [seq, body.contentJson, text, bodyChecksum({ ...body, text }), hash],
    );
    if (entry.content.type === 'compaction') this.insertCompaction(seq, entry.content);
    if (entry.content.type === 'checkpoint') this.insertCheckpoint(seq, entry.content);
    return { entry: { ...entry, seq }, added: true };
  }

  addBlob(hash: string, bytes: number, mime: string): void {
    this.connection.run(
      'INSERT INTO blobs(hash, bytes, mime) VALUES (?, ?, ?) ON CONFLICT(hash) DO UPDATE SET bytes = excluded.bytes, mime = excluded.mime WHERE mime = ?',
      [hash, bytes, mime, letGoMime],
    );
  }

  /** Throws `invalid` when there is no such entry. */
  setTokens(uuid: string, tokens: number): void {
    const row = this.connection.get('SELECT session, token_estimate FROM entries WHERE uuid = ?', [uuid]);
    if (!row) throw new StoreError('invalid', english('There is no entry {0}', uuid));
    this.connection.run('UPDATE entries SET token_estimate = ? WHERE uuid = ?', [tokens, uuid]);
    this.connection.run('UPDATE sessions SET total_tokens = total_tokens + ? WHERE uuid = ?', [
      tokens - Number(row['token_estimate'] ?? 0),
      row['session'] ?? null,
    ]);
  }

  /** Throws `invalid` unless the entry can have others after it. */
  requireParent(uuid: string): void {
    const row = this.connection.get('SELECT entry_type FROM entries WHERE uuid = ?', [uuid]);
    if (!row) throw new StoreError('invalid', english('There is no entry {0}', uuid));
    const type = row['entry_type'] as EntryType;
    if (markTypes.has(type)) throw new StoreError('invalid', english('Entry {0} is a {1}, which nothing can follow', uuid, type));
  }

  /** Walks from `uuid` towards the root, read as far as the caller goes. Crosses into the session a fork came from. */
  *walkUp(uuid: string | null): Generator<StoredEntry, void, void> {
    if (uuid === null) return;
    // CROSS JOIN keeps SQLite from reordering the walk into a scan.
    const rows = this.connection.iterate(
      `WITH RECURSIVE branch(uuid) AS (
         SELECT ? UNION ALL SELECT e.parent FROM branch JOIN entries e ON e.uuid = branch.uuid WHERE e.parent IS NOT NULL
       )
       SELECT ${entrySelection} FROM branch CROSS JOIN entries e ON e.uuid = branch.uuid CROSS JOIN bodies b ON b.entry = e.seq`,
      [uuid],
    );
    for (const row of rows) yield this.decode(row);
  }

  /** The same without the long texts, which SQLite then does not read: 14,000 entries with 51 MB of text in 40 ms, with them in 220 ms. */
  *outlineUp(uuid: string | null): Generator<OutlinedEntry, void, void> {
    if (uuid === null) return;
    const rows = this.connection.iterate(
      `WITH RECURSIVE branch(uuid) AS (
         SELECT ? UNION ALL SELECT e.parent FROM branch JOIN entries e ON e.uuid = branch.uuid WHERE e.parent IS NOT NULL
       )
       SELECT ${outlineSelection} FROM branch CROSS JOIN entries e ON e.uuid = branch.uuid CROSS JOIN bodies b ON b.entry = e.seq`,
      [uuid],
    );
    for (const row of rows) yield decodeOutline(row, this.decode, (one) => this.find(one));
  }

  /**
   * Returns the entries to be displayed, oldest first, by what they hang off. One query for all: a page of 50 took twice as long with one
   * for each.
   */
  sideEntriesOf(parents: readonly string[]): Map<string, StoredEntry[]> {
    const types = [...markTypes].map((type) => `'${type}'`).join(', ');
    const rows = this.connection.iterate(
      `SELECT ${entrySelection} FROM json_each(?) p CROSS JOIN entries e ON e.parent = p.value CROSS JOIN bodies b ON b.entry = e.seq
       WHERE e.display = 1 AND e.entry_type IN (${types}) ORDER BY e.seq`,
      [JSON.stringify(parents)],
    );
    const found = new Map<string, StoredEntry[]>();
    for (const row of rows) {
      const entry = this.decode(row);
      const parent = String(entry.parent);
      found.set(parent, [...(found.get(parent) ?? []), entry]);
    }
    return found;
  }

  /** The newest prepared summary that hangs off one of the entries; none that was brought along from elsewhere. */
  newestPrepared(entries: readonly StoredEntry[]): EntryOf<'prepared_summary'> | null {
    const row = this.connection.get(
      `SELECT ${entrySelection} FROM json_each(?) p CROSS JOIN entries e ON e.parent = p.value CROSS JOIN bodies b ON b.entry = e.seq
       WHERE e.entry_type = 'prepared_summary' AND e.source_id IS NULL ORDER BY e.seq DESC LIMIT 1`,
      [JSON.stringify(entries.map(({ uuid }) => uuid))],
    );
    const entry = row && this.decode(row);
    return entry && isEntryOf(entry, 'prepared_summary') ? entry : null;
  }

  private row(uuid: string): Row | undefined {
    return this.connection.get(`${selectEntry} WHERE e.uuid = ?`, [uuid]);
  }

  /** One more than any that was ever given out, also to an entry that a purge has taken away. */
  private nextSeq(): number {
    const row = this.connection.get(
      `SELECT max(coalesce((SELECT max(seq) FROM entries), 0), coalesce((SELECT last FROM id_counters WHERE day = 'entries'), 0)) AS last`,
    );
    return Number(row?.['last']) + 1;
  }

  private insertCompaction(seq: number, content: ContentOf<'compaction'>): void {
    const known = this.connection.get('SELECT 1 FROM compactions WHERE operation_id = ?', [content.operationId]);
    if (known) throw new StoreError('invalid', english('Compaction {0} is already recorded', content.operationId));
    this.connection.run(
      `INSERT INTO compactions(entry, summary_json, summary_text, first_kept_entry, covers_from, tokens_before, tokens_after,
         messages_before, messages_after, trigger, rung, model, duration_ms, held_ms, audit_json, continuity_json,
         needs_summary_retry, supersedes, operation_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        seq,
        json(content.summary),
        content.summaryText,
        content.firstKeptEntry,
        content.coversFrom,
        content.tokensBefore,
        content.tokensAfter,
        content.messagesBefore,
        content.messagesAfter,
        content.trigger,
        content.rung,
        content.model,
        content.durationMs,
        content.heldMs,
        json(content.audit),
        json(content.continuity),
        content.needsSummaryRetry ? 1 : 0,
        content.supersedes ?? null,
        content.operationId,
      ],
    );
  }

  private insertCheckpoint(seq: number, content: ContentOf<'checkpoint'>): void {
    this.connection.run(
      `INSERT INTO checkpoints(entry, summary, tokens_at_checkpoint, messages_at_checkpoint, topics, key_decisions, open_questions, covers_through)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        seq,
        content.summary,
        content.tokensAtCheckpoint,
        content.messagesAtCheckpoint,
        JSON.stringify(content.topics),
        JSON.stringify(content.keyDecisions),
        JSON.stringify(content.openQuestions),
        content.coversThrough,
      ],
    );
  }
}

/** No entry gets this number or a lower one at the end any more, whether one has it or not. */
export function keepNumber(connection: Connection, number: number): void {
  connection.run(
    "INSERT INTO id_counters(day, last) VALUES ('entries', ?) ON CONFLICT(day) DO UPDATE SET last = max(last, excluded.last)",
    [number],
  );
}

function insertionOf(names: readonly string[]): string {
  return `INSERT INTO entries(${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export const entryOperations = {
  entries: ({ entries }, uuids) => entries.findAll(uuids),
  entriesBySeq: ({ entries }, seqs, toTell = false) =>
    toTell ? seqs.flatMap((seq) => entries.findToTell(seq) ?? []) : entries.findBySeq(seqs),
  saveTokenCounts: ({ connection, entries }, counts) =>
    connection.transaction(() => {
      for (const { entry, tokens } of counts) entries.setTokens(entry, tokens);
    }),
  putBlob: ({ connection, blobs, entries }, bytes, mime) =>
    connection.transaction(() => {
      const hash = blobs.write(bytes);
      entries.addBlob(hash, bytes.length, mime);
      return hash;
    }),
  blob: ({ blobs }, hash, toTell = false) => (toTell ? blobs.readOrThrow(hash) : blobs.read(hash)),
} satisfies Partial<Operations<{ readonly connection: Connection; readonly blobs: BlobFiles; readonly entries: EntryRows }>>;
