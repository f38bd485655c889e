import type { ContentsCount } from '../../../core/maintenance/reports';
import { FileChanges, fileContentMime, letGoMime } from '../../../core/rewind/fileChanges';
import { unpackText, type Connection, type Row, type SqlValue } from '../database/connection';
import { crc32 } from 'node:zlib';
import { bodyChecksum } from '../rows/entryCodec';
import { readFileSync } from 'node:fs';
import { blobFile, sha256 } from '../rows/blobFiles';
import { english } from '../../../core/l10n';
import type { VerifyProblem } from '../../../core/maintenance/reports';

/** Rows between two looks at the clock. */
const batchRows = 20;

/**
 * Compares what every entry says with the checksum it was written with, newest first. Yields at least every `batchRows` rows how
 * many were looked at; `onDamage` gets the numbers of those that do not add up.
 */
export function* verifyBodies(connection: Connection, onDamage: (seq: number) => void): Generator<number, void, void> {
  let below = Number.MAX_SAFE_INTEGER;
  let read = 0;
  for (;;) {
    const rows = connection.all(
      `SELECT b.entry AS entry, b.content_json AS content_json, b.text AS text, b.crc32 AS crc32, e.tool_args_json AS tool_args_json
       FROM bodies b LEFT JOIN entries e ON e.seq = b.entry WHERE b.entry < ? ORDER BY b.entry DESC LIMIT ${batchRows}`,
      [below],
    );
    for (const row of rows) {
      below = Number(row['entry']);
      read++;
      if (!isSoundBody(row, row['tool_args_json'])) onDamage(below);
    }
    yield read;
    if (rows.length < batchRows) return;
  }
}

/** What `bodies.content_json` says in place of content that was lost or does not add up; such entries are shown as damaged. */
interface DamagedContent {
  readonly type: 'damaged';
  /** The content as it was found, and its stored checksum; absent when the row could not be read. */
  readonly was?: string;
  readonly crc32?: number;
}

/** Whether a row of `bodies`, with its entry's `tool_args_json`, is what was written. */
export function isSoundBody(row: Row, toolArgs: SqlValue | undefined): boolean {
  const { content_json: content, text } = row;
  if (typeof content !== 'string' || typeof text === 'number') return false;
  return (
    bodyChecksum({ contentJson: content, text: text ?? null, toolArgsJson: typeof toolArgs === 'string' ? toolArgs : null }) ===
    row['crc32']
  );
}

/** The row's columns for an entry that is kept as damaged. */
export function damagedBody(
  row: Row | undefined,
  toolArgs: string | null,
): readonly [content: string, text: string | Uint8Array | null, sum: number] {
  const was = row?.['content_json'];
  const text = row?.['text'];
  const content: DamagedContent = {
    type: 'damaged',
    ...(typeof was === 'string' ? { was } : {}),
    ...(typeof row?.['crc32'] === 'number' ? { crc32: row['crc32'] } : {}),
  };
  const kept = typeof text === 'string' || text instanceof Uint8Array ? text : null;
  const json = JSON.stringify(content);
  return [json, kept, crc32(toolArgs ?? '', crc32(kept ?? '', crc32(json)))];
}

/** The content of the files beside a store, in a backup of it. */
export const blobContentTable = 'blob_content';

export interface KnownBlob {
  readonly hash: string;
  /** The newest entry that names it; null for an attachment that no entry names yet. */
  readonly entry: number | null;
  /** It is what stood in a file before or after a call. */
  readonly isFileContent: boolean;
}

/** Where the content of blobs is: in files beside a store, in a table of a backup. */
export interface BlobStore {
  /** Throws what the file system says. */
  read(hash: string): Uint8Array | undefined;
  /** Why the content is not what its name says; null when it is. */
  problem(hash: string): 'missing' | 'damaged' | 'unreadable' | null;
}

/** Every blob that the database names, by its table or by an entry, and that was not let go. */
export function knownBlobs(connection: Connection): KnownBlob[] {
  return connection
    .all(
      `SELECT hash, (SELECT max(entry) FROM bodies WHERE blob_hash = hash) AS entry, (SELECT mime FROM blobs b WHERE b.hash = known.hash) AS mime
       FROM (SELECT hash FROM blobs WHERE mime <> ? UNION SELECT blob_hash FROM bodies WHERE blob_hash IS NOT NULL) known`,
      [letGoMime],
    )
    .map((row) => ({
      hash: String(row['hash']),
      entry: typeof row['entry'] === 'number' ? row['entry'] : null,
      isFileContent: row['mime'] === fileContentMime,
    }));
}

export function countContents(connection: Connection): ContentsCount {
  const sums = (mime: string) => connection.get('SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM blobs WHERE mime = ?', [mime]);
  const kept = sums(fileContentMime);
  return { kept: Number(kept?.['n']), bytes: Number(kept?.['bytes']), letGo: Number(sums(letGoMime)?.['n']) };
}

/** The entry that tells of a content, and the path of the file; null when nothing does. */
export function fileOfContent(connection: Connection, hash: string): { readonly entry: number; readonly path: string } | null {
  const row = connection.get(
    "SELECT b.entry AS entry, b.content_json AS content FROM entries e CROSS JOIN bodies b ON b.entry = e.seq WHERE e.entry_type = 'file_changes' AND b.content_json LIKE ? ORDER BY e.seq DESC LIMIT 1",
    [`%${hash}%`],
  );
  if (!row) return null;
  const path = FileChanges.safeParse(parsed(row['content'])).data?.files.find(
    ({ before, after }) => before?.blob === hash || after?.blob === hash,
  )?.path;
  return { entry: Number(row['entry']), path: path ?? '' };
}

/** A repair: contents that are lost are let go, and so no damage any more. What only cannot be read now may be sound, and stays. */
export function letLostContentsGo(connection: Connection, folder: string): void {
  const store = filesOf(folder);
  for (const { hash, isFileContent } of knownBlobs(connection))
    if (isFileContent && ['missing', 'damaged'].includes(store.problem(hash) ?? ''))
      connection.run('UPDATE blobs SET mime = ?, bytes = 0 WHERE hash = ?', [letGoMime, hash]);
}

function parsed(json: unknown): unknown {
  try {
    return JSON.parse(String(json));
  } catch {
    return null;
  }
}

/** Reads the blobs of an open database whose store is, or was, in `folder`. */
export function blobStore(connection: Connection, folder: string): BlobStore {
  return connection.get('SELECT 1 FROM sqlite_master WHERE name = ?', [blobContentTable])
    ? checked((hash) => inTable(connection, hash))
    : filesOf(folder);
}

export function filesOf(folder: string): BlobStore {
  return checked((hash) => {
    try {
      return readFileSync(blobFile(folder, hash));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  });
}

function checked(read: BlobStore['read']): BlobStore {
  return {
    read,
    problem: (hash) => {
      try {
        const content = read(hash);
        if (!content) return 'missing';
        return sha256(content) === hash ? null : 'damaged';
      } catch {
        return 'unreadable';
      }
    },
  };
}

function inTable(connection: Connection, hash: string): Uint8Array | undefined {
  const data = connection.get(`SELECT data FROM ${blobContentTable} WHERE hash = ?`, [hash])?.['data'];
  return data instanceof Uint8Array ? data : undefined;
}

/** Whether every session leads from its leaf to a root, and every record that names an entry names one that is there. */
export function verifyTree(connection: Connection, problems: ProblemList): void {
  for (const row of connection.iterate('PRAGMA foreign_key_check')) {
    const [table, rowid] = [String(row['table']), row['rowid']];
    const where =
      table === 'entries' || table === 'bodies' || table === 'compactions' || table === 'checkpoints'
        ? entryName(connection, rowid)
        : `${table}, row ${String(rowid)}`;
    if (table === 'entries' && row['parent'] === 'entries')
      problems.add('tree', where, english('The entry before it is missing, so what came earlier cannot be reached from it.'));
    else if (table === 'entries')
      problems.add('tree', where, english('The session it belongs to is missing, so it is not listed anywhere.'));
    else problems.add('reference', where, english('A row of {0} belongs to something that is missing.', table));
  }
  for (const { seq } of connection.all('SELECT seq FROM entries WHERE seq NOT IN (SELECT entry FROM bodies)')) {
    problems.add('content', entryName(connection, seq), english('Its content is missing.'));
  }
  for (const { uuid } of connection.all(
    'SELECT uuid FROM sessions s WHERE leaf_entry IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entries WHERE uuid = s.leaf_entry)',
  )) {
    problems.add('tree', sessionName(connection, uuid), english('The entry it ends with is missing, so it opens empty.'));
  }
  // An entry is written after its parent: a circle has to go up somewhere.
  for (const { seq, uuid } of connection.all(
    'SELECT e.seq AS seq, e.uuid AS uuid FROM entries e JOIN entries p ON p.uuid = e.parent WHERE p.seq >= e.seq',
  )) {
    if (goesInCircles(connection, uuid))
      problems.add('tree', entryName(connection, seq), english('It is its own ancestor, so its session cannot be read to the beginning.'));
  }
  for (const { entry } of connection.all(
    "SELECT entry FROM compactions WHERE entry IN (SELECT seq FROM entries WHERE entry_type <> 'compaction')",
  )) {
    problems.add('reference', entryName(connection, entry), english('A compaction is recorded for an entry that is none.'));
  }
  for (const column of ['first_kept_entry', 'covers_from', 'supersedes']) {
    for (const { entry } of connection.all(
      `SELECT entry FROM compactions c WHERE ${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entries WHERE uuid = c.${column})`,
    )) {
      problems.add(
        'reference',
        entryName(connection, entry),
        english('The compaction names an entry that is missing, so what it covers cannot be told.'),
      );
    }
  }
}

/** Whether the sums that lists show and the search index agree with the entries. */
export function verifyDerived(connection: Connection, problems: ProblemList): void {
  // What a fork shares counts where it was written.
  const wrong = connection.all(
    `SELECT s.uuid AS uuid FROM sessions s LEFT JOIN (
       SELECT session, sum(entry_type = 'message') AS messages, sum(coalesce(token_estimate, 0)) AS tokens FROM entries GROUP BY session
     ) e ON e.session = s.uuid
     WHERE s.message_count <> coalesce(e.messages, 0) OR s.total_tokens <> coalesce(e.tokens, 0)`,
  );
  for (const { uuid } of wrong)
    problems.add(
      'counter',
      sessionName(connection, uuid),
      english('The number of messages or tokens that lists show for it is wrong. Nothing is lost.'),
    );

  const number = (sql: string) => Number(connection.get(sql)?.['n'] ?? 0);
  const last = number('SELECT max(seq) AS n FROM entries');
  // A backup or a history that waits for its migration has no passages before version 5.
  const hasPassages = connection.get("SELECT 1 FROM sqlite_master WHERE name = 'passages'") !== undefined;
  const passages = hasPassages ? number('SELECT max(entry) AS n FROM passages') : 0;
  const indexed = Math.max(passages, number("SELECT value AS n FROM meta WHERE key = 'fts_indexed'"));
  if (indexed > last)
    problems.add(
      'search_index',
      english('the search index'),
      english('It covers entries up to #{0}, but the last one is #{1}: new entries would not be found.', indexed, last),
    );
}

export function goesInCircles(connection: Connection, from: SqlValue | undefined): boolean {
  const seen = new Set<SqlValue>();
  for (
    let at: SqlValue = from ?? null;
    at !== null;
    at = connection.get('SELECT parent FROM entries WHERE uuid = ?', [at])?.['parent'] ?? null
  ) {
    if (seen.has(at)) return true;
    seen.add(at);
  }
  return false;
}

/** A damaged file has a problem in every row; a report is read by a person. */
const maxProblems = 100;

export class ProblemList {
  private readonly kept: VerifyProblem[] = [];
  private dropped = 0;

  add(kind: VerifyProblem['kind'], where: string, meaning: string, repairHelps = true): void {
    // One damaged page is in the way of several checks.
    if (this.kept.some((problem) => problem.where === where && problem.meaning === meaning)) return;
    if (this.kept.length < maxProblems) this.kept.push({ kind, where, meaning, repairHelps });
    else this.dropped++;
  }

  get problems(): readonly VerifyProblem[] {
    return this.kept;
  }

  get more(): number {
    return this.dropped;
  }
}

/** `session 20261120_003 “Fix login”`, or as much of it as can be read. */
function sessionName(connection: Connection, uuid: SqlValue | undefined): string {
  try {
    const row = connection.get('SELECT id, title FROM sessions WHERE uuid = ?', [uuid ?? null]);
    const title = row && unpackText(row['title']);
    if (row) return title === '' ? english('session {0}', String(row['id'])) : english('session {0} “{1}”', String(row['id']), title ?? '');
  } catch {
    // Named by what is at hand instead.
  }
  return english('session {0}', String(uuid));
}

/** `entry #12 of session 20261120_003 “Fix login”`. */
export function entryName(connection: Connection, seq: SqlValue | undefined): string {
  try {
    const row = connection.get('SELECT session FROM entries WHERE seq = ?', [seq ?? null]);
    if (row) return english('entry #{0} of {1}', String(seq), sessionName(connection, row['session']));
  } catch {
    // The reason is the one above.
  }
  return english('entry #{0}', String(seq));
}
