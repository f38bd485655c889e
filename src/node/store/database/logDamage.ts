import { applyFrames, readFrames } from './walFrames';
import { readFileSync } from 'node:fs';
import type { DatabaseFiles } from '../wasm/fileBridge';
import { undoJournal } from './rollbackJournal';
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

/** The file as it was before a transaction that was never finished, with every frame of its log that can be trusted, whatever SQLite would say of the frames before it. */
export function mergeLog(files: DatabaseFiles, pageSize: number): Uint8Array {
  const stored: Uint8Array = sizeOf(files.main) > 0 ? readFileSync(files.main) : new Uint8Array(0);
  const main = sizeOf(files.journal) > 0 ? undoJournal(stored, files.journal, pageSize) : stored;
  const merged = sizeOf(files.wal) < 32 ? main : applyFrames(main, readFrames(readFileSync(files.wal), pageSize), pageSize);
  const whole = new Uint8Array(Math.ceil(merged.length / pageSize) * pageSize);
  whole.set(merged);
  return whole;
}
