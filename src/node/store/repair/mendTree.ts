import { titleFrom } from '../../../core/session/session';
import { markTypes, type EntryContent } from '../../../core/session/entry';
import { randomUUID } from 'node:crypto';
import { english } from '../../../core/l10n';
import { unpackText, type Connection, type Row, type SqlValue } from '../database/connection';
import { damagedBody, isSoundBody, goesInCircles } from './verifyContents';
import { entryColumns } from '../rows/entryCodec';
import { noteHighest, noteStandIn } from '../sync/standIns';
import { readableRows } from './salvageRows';
import { SessionRows } from '../rows/sessionRows';

/** Messages that are looked through for words to call a session by: some are blank, with nothing but a picture. */
const titleCandidates = 20;

/**
 * Makes everything that was brought over reachable again: sessions that entries name and that are lost, parents that are lost,
 * leaves that are lost, and texts of which nobody knows the session. Returns what was made up for, in words.
 */
export function mendTree(source: Connection, target: Connection, fragments: readonly Row[]): string[] {
  const told: string[] = [];
  const tell = (n: number, one: string, many: (n: number) => string) => {
    if (n > 0) told.push(n === 1 ? one : many(n));
  };
  tell(keepFragments(target, fragments), english('the place of 1 text (kept in a session of its own)'), (n) =>
    english('the places of {0} texts (kept in a session of their own)', n),
  );
  tell(restoreSessions(source, target), english('title and settings of 1 session'), (n) =>
    english('titles and settings of {0} sessions', n),
  );
  tell(restoreParents(target), english('1 entry in the middle of a session'), (n) => english('{0} entries in the middle of sessions', n));
  tell(cutCircles(target), english('what came before 1 entry'), (n) => english('what came before {0} entries', n));
  tell(restoreLeaves(target), english('where 1 session ended'), (n) => english('where {0} sessions ended', n));
  tell(mendCompactions(target), english('what 1 compaction covered'), (n) => english('what {0} compactions covered', n));
  recount(target);
  return told;
}

function keepFragments(target: Connection, fragments: readonly Row[]): number {
  const sound = fragments.filter((row) => typeof row['entry'] === 'number' && !has(target, row['entry']));
  if (sound.length === 0) return 0;
  const now = Date.now();
  const session = new SessionRows(target).getOrCreate({
    uuid: randomUUID(),
    key: `recovered:${now}`,
    channel: 'import',
    title: titleFrom(firstWords(sound)),
    createdAt: now,
  });
  let parent: string | null = null;
  for (const row of sound) {
    const isSound = isSoundBody(row, null);
    const content = isSound ? (JSON.parse(String(row['content_json'])) as EntryContent) : undefined;
    const columns = content ? entryColumns(content) : { entry_type: 'custom', custom_type: 'damaged' };
    const uuid = randomUUID();
    insertEntry(target, {
      seq: Number(row['entry']),
      uuid,
      session: session.uuid,
      parent,
      ...columns,
      model_facing: 0,
      display: 1,
      created_at: now,
    });
    const body = isSound ? [row['content_json'], row['text'], row['crc32']] : damagedBody(row, null);
    insertBody(target, Number(row['entry']), body, row['blob_hash']);
    noteStandIn(target, uuid, isSound);
    if (!content || !markTypes.has(content.type)) parent = uuid;
  }
  target.run('UPDATE sessions SET leaf_entry = ? WHERE uuid = ?', [parent, session.uuid]);
  noteHighest(target);
  return sound.length;
}

function restoreSessions(source: Connection, target: Connection): number {
  const named = target.all(
    `SELECT session AS uuid, min(created_at) AS first, max(created_at) AS last
     FROM entries WHERE session NOT IN (SELECT uuid FROM sessions) GROUP BY session`,
  );
  if (named.length === 0) return 0;
  const places = new Map([...readableRows(source, 'sessions', ['uuid'], 'rowid AS at, uuid')].map((row) => [row['uuid'], row['at']]));
  const ids = new Map([...readableRows(source, 'sessions', ['id'], 'rowid AS at, id')].map((row) => [row['at'], row['id']]));
  for (const { uuid, first, last } of named) {
    const createdAt = Number(first);
    const said = target.all(
      "SELECT b.text FROM entries AS e JOIN bodies AS b ON b.entry = e.seq WHERE e.session = ? AND e.entry_type = 'message' AND e.role = 'user' AND e.display = 1 ORDER BY e.seq LIMIT ?",
      [String(uuid), titleCandidates],
    );
    const session = new SessionRows(target).getOrCreate({
      uuid: String(uuid),
      key: `recovered:${String(uuid)}`,
      channel: 'import',
      title: titleFrom(firstWords(said)),
      createdAt,
    });
    const id = ids.get(places.get(uuid));
    const isFree = typeof id === 'string' && /^\d{8}_\d{3,}$/.test(id) && !target.get('SELECT 1 FROM sessions WHERE id = ?', [id]);
    target.run('UPDATE sessions SET id = ?, updated_at = ?, last_opened_at = ?, leaf_entry = ? WHERE uuid = ?', [
      isFree ? id : session.id,
      last ?? createdAt,
      last ?? createdAt,
      newestOf(target, uuid, Number.MAX_SAFE_INTEGER),
      session.uuid,
    ]);
  }
  return named.length;
}

function firstWords(rows: readonly Row[]): string {
  return rows.map((row) => unpackText(row['text'])).find((text) => text.trim() !== '') ?? '';
}

/** A lost parent is stood in for, so that what came before it stays reachable. */
function restoreParents(target: Connection): number {
  const lost = target.all(
    `SELECT parent AS uuid, session, min(seq) AS child, created_at FROM entries
     WHERE parent IS NOT NULL AND parent NOT IN (SELECT uuid FROM entries) GROUP BY parent ORDER BY child`,
  );
  for (const { uuid, session, child, created_at: at } of lost) {
    let seq = Number(child) - 1;
    while (has(target, seq)) seq--;
    const before = newestOf(target, session, seq);
    insertEntry(target, {
      seq,
      uuid: uuid ?? null,
      session: session ?? null,
      parent: before,
      entry_type: 'custom',
      custom_type: 'damaged',
      model_facing: 0,
      display: 1,
      created_at: at ?? 0,
    });
    insertBody(target, seq, damagedBody(undefined, null));
    noteStandIn(target, String(uuid));
  }
  return lost.length;
}

/** An entry that is its own ancestor is put after the one that was written before it. */
function cutCircles(target: Connection): number {
  const cut = target
    .all(
      'SELECT e.seq AS seq, e.uuid AS uuid, e.session AS session FROM entries e JOIN entries p ON p.uuid = e.parent WHERE p.seq >= e.seq ORDER BY e.seq',
    )
    .filter(({ seq, uuid, session }) => {
      if (!goesInCircles(target, uuid)) return false;
      const guard = String(target.get("SELECT sql FROM sqlite_master WHERE name = 'entries_keep_content'")?.['sql']);
      target.exec('DROP TRIGGER entries_keep_content');
      target.run('UPDATE entries SET parent = ? WHERE seq = ?', [newestOf(target, session, Number(seq)), seq ?? null]);
      target.exec(guard);
      noteStandIn(target, String(uuid));
      return true;
    });
  return cut.length;
}

function restoreLeaves(target: Connection): number {
  const lost = target.all('SELECT uuid FROM sessions WHERE leaf_entry IS NOT NULL AND leaf_entry NOT IN (SELECT uuid FROM entries)');
  for (const { uuid } of lost) {
    target.run('UPDATE sessions SET leaf_entry = ? WHERE uuid = ?', [newestOf(target, uuid, Number.MAX_SAFE_INTEGER), uuid ?? null]);
  }
  return lost.length;
}

/** The table repeats what the entries say (entryRows.ts): a row that contradicts them goes, its entry stays. */
function mendCompactions(target: Connection): number {
  const dangling = ['first_kept_entry', 'covers_from', 'supersedes']
    .map((column) => `(${column} IS NOT NULL AND ${column} NOT IN (SELECT uuid FROM entries))`)
    .join(' OR ');
  const wrong = target.all(
    `SELECT entry FROM compactions WHERE ${dangling} OR entry NOT IN (SELECT seq FROM entries WHERE entry_type = 'compaction')`,
  );
  for (const { entry } of wrong) target.run('DELETE FROM compactions WHERE entry = ?', [entry ?? null]);
  return wrong.length;
}

function recount(target: Connection): void {
  target.run(
    `UPDATE sessions SET
       message_count = (SELECT count(*) FROM entries WHERE session = sessions.uuid AND entry_type = 'message'),
       total_tokens = (SELECT coalesce(sum(token_estimate), 0) FROM entries WHERE session = sessions.uuid)`,
  );
}

/** The last entry of the session below a number that another can follow. */
export function newestOf(target: Connection, session: SqlValue | undefined, before: number): string | null {
  const types = [...markTypes].map((type) => `'${type}'`).join(', ');
  const row = target.get(
    `SELECT uuid FROM entries WHERE session = ? AND seq < ? AND entry_type NOT IN (${types}) ORDER BY seq DESC LIMIT 1`,
    [session ?? null, before],
  );
  return typeof row?.['uuid'] === 'string' ? row['uuid'] : null;
}

function has(target: Connection, seq: SqlValue): boolean {
  return target.get('SELECT 1 FROM entries WHERE seq = ?', [seq]) !== undefined;
}

function insertEntry(target: Connection, row: Row): void {
  const names = Object.keys(row);
  target.run(`INSERT INTO entries(${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, Object.values(row));
}

function insertBody(
  target: Connection,
  seq: number,
  [content, text, sum]: readonly (SqlValue | undefined)[],
  blobHash: SqlValue | undefined = null,
): void {
  target.run('INSERT INTO bodies(entry, content_json, text, crc32, blob_hash) VALUES (?, ?, ?, ?, ?)', [
    seq,
    content ?? null,
    text ?? null,
    sum ?? null,
    blobHash,
  ]);
}
