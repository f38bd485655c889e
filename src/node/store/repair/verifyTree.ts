import { english } from '../../../core/l10n';
import type { Connection, SqlValue } from '../database/connection';
import { entryName, sessionName, type ProblemList } from './problemList';

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
  const indexed = Math.max(
    number('SELECT max(docid) AS n FROM entries_fts_docsize'),
    number("SELECT value AS n FROM meta WHERE key = 'fts_indexed'"),
  );
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
