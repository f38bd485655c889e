import type { Connection, Row } from '../database/connection';

/** Hashes of the files that any of these rows needs; `content_json` of an entry, or `attachments_json` of what is not sent yet. */
export function blobNames(rows: Iterable<Row>): Set<string> {
  const names = new Set<string>();
  for (const row of rows) {
    if (typeof row['blob_hash'] === 'string') names.add(row['blob_hash']);
    for (const column of ['content_json', 'attachments_json']) {
      // Whatever looks like a hash counts: a name too many keeps a file, one too few loses it.
      for (const [name] of String(row[column] ?? '').matchAll(/\b[0-9a-f]{64}\b/g)) names.add(name);
    }
  }
  return names;
}

/** Every file that an entry, a draft or a queued message needs. Reads no texts: they come after these columns in the row. */
export function neededBlobs(connection: Connection): Set<string> {
  const names = blobNames(connection.iterate("SELECT content_json FROM bodies WHERE content_json LIKE '%\"hash\"%' OR content_json LIKE '{\"type\":\"damaged\"%'"));
  for (const sql of ['SELECT blob_hash FROM bodies WHERE blob_hash IS NOT NULL', 'SELECT attachments_json FROM drafts', 'SELECT attachments_json FROM queue']) {
    for (const name of blobNames(connection.iterate(sql))) names.add(name);
  }
  return names;
}
