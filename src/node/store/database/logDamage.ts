import { applyFrames, readFrames } from './walFrames';
import { readFileSync } from 'node:fs';
import type { DatabaseFiles } from '../wasm/fileBridge';
import { sizeOf } from './storeFiles';
import { english } from '../../../core/l10n';

/**
 * What SQLite itself would pass over in silence: pages that neither the file nor its log holds, and a log that is damaged before
 * commits that were acknowledged (SQLite ends a log at the first frame that does not add up, and then writes over the rest).
 * Null when the files may be opened. Reads the whole log, and the file's header.
 */
export function findSilentDamage(files: DatabaseFiles, pageSize: number): string | null {
  if (sizeOf(files.journal) > 0) return null;
  const size = sizeOf(files.main);
  if (sizeOf(files.wal) < 32) {
    return size % pageSize === 0 ? null : english('its last page ends after {0} of {1} bytes', size % pageSize, pageSize);
  }
  const log = readFrames(readFileSync(files.wal), pageSize);
  if (log.damaged) return english('its log is damaged in the middle');
  if (log.pageCount === 0) return null;
  const inFile = Math.floor(size / pageSize);
  for (let page = inFile + 1; page <= log.pageCount; page++) {
    if (!log.pages.has(page)) return english('it ends after {0} bytes, where {1} are expected', size, log.pageCount * pageSize);
  }
  return null;
}

/**
 * The file as it was before a transaction that was never finished, with every frame of its log that can be trusted, whatever SQLite would
 * say of the frames before it.
 */
export function mergeLog(files: DatabaseFiles, pageSize: number): Uint8Array {
  const stored: Uint8Array = sizeOf(files.main) > 0 ? readFileSync(files.main) : new Uint8Array(0);
  const main = sizeOf(files.journal) > 0 ? undoJournal(stored, files.journal, pageSize) : stored;
  const merged = sizeOf(files.wal) < 32 ? main : applyFrames(main, readFrames(readFileSync(files.wal), pageSize), pageSize);
  const whole = new Uint8Array(Math.ceil(merged.length / pageSize) * pageSize);
  whole.set(merged);
  return whole;
}

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
