import { readFileSync } from 'node:fs';

const magic = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * Undoes a transaction that was never finished: puts the pages back that a rollback journal has kept, as SQLite does when it opens
 * the file. Records that do not add up are left out. Format: https://www.sqlite.org/fileformat2.html#the_rollback_journal
 */
export function undoJournal(database: Uint8Array, journalFile: string, pageSize: number): Uint8Array {
  const journal = readFileSync(journalFile);
  let result = database;
  let isFirst = true;
  for (let at = 0; at + 28 <= journal.length && journal.subarray(at, at + 8).equals(magic); ) {
    const [stored, nonce, pagesBefore, sector, size] = [8, 12, 16, 20, 24].map((offset) => journal.readUInt32BE(at + offset)) as [
      number,
      number,
      number,
      number,
      number,
    ];
    if (size !== pageSize || sector < 512) return result;
    if (isFirst) result = sized(database, pagesBefore * pageSize);
    isFirst = false;
    const records = at + sector;
    const recordSize = pageSize + 8;
    const fit = Math.floor((journal.length - records) / recordSize);
    // A count that was never written: the rest of the file.
    const count = stored === 0xffffffff || stored === 0 ? fit : Math.min(stored, fit);
    for (let i = 0; i < count; i++) {
      const record = records + i * recordSize;
      const page = journal.readUInt32BE(record);
      const content = journal.subarray(record + 4, record + 4 + pageSize);
      if (page < 1 || page * pageSize > result.length || journal.readUInt32BE(record + 4 + pageSize) !== checksum(content, nonce)) continue;
      result.set(content, (page - 1) * pageSize);
    }
    const end = records + count * recordSize;
    at = Math.ceil(end / sector) * sector;
  }
  return result;
}

/** Every 200th byte from the end; SQLite wants to notice a torn record and not a flipped bit. */
function checksum(content: Uint8Array, nonce: number): number {
  let sum = nonce;
  for (let at = content.length - 200; at > 0; at -= 200) sum = (sum + (content[at] ?? 0)) >>> 0;
  return sum;
}

/** A copy, and never shorter: what a transaction has added may be all that is left of something. */
function sized(bytes: Uint8Array, length: number): Uint8Array {
  const copy = new Uint8Array(Math.max(bytes.length, Math.min(length, 2 * bytes.length + 65536)));
  copy.set(bytes);
  return copy;
}
