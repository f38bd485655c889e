import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import { writeFileAtomic } from './atomicFile';
import type { DatabaseFiles } from '../wasm/fileBridge';
import { refuseNewer } from './migrations';
import { applicationId } from './schema';

/**
 * Bytes in a page of a file yet to be created. The smallest there is: an append touches 8 pages for a few bytes each, and every page
 * touched is written whole to the log. Measured at 2.6 KB of text per append: 4.5 bytes written per byte of text, against 6.5 with
 * pages of 1024, 9.5 with 2048 and 17 with 4096; a log twice as long changes that by less than a hundredth and takes longer to recover
 * from. A message of 3,650 characters takes 6.0 KB of the file with its index. In return reading all of a long branch takes a quarter
 * more of the processor than with 2048 (fileBuffer.ts); opening and a page take what they do with 1024.
 */
export const newPageSize = 512;

/** Every file of a store folder. */
export interface StoreFiles extends DatabaseFiles {
  readonly folder: string;
  /** Who owns the store (lease.ts). */
  readonly lease: string;
  /** Which windows use the store, for whoever owns it next (windowList.ts). */
  readonly windows: string;
  /** How often the store was opened, outside the database: an empty file opens as a valid empty database. */
  readonly generation: string;
  /** Which sources of other programs have been read into the database (watchMemory.ts). It says nothing of another database. */
  readonly watched: string;
}

export function storeFiles(folder: string): StoreFiles {
  const main = join(folder, 'threadkeeper.db');
  return {
    folder,
    main,
    wal: `${main}.live`,
    journal: `${main}.undo`,
    lease: join(folder, 'owner.lease'),
    windows: join(folder, 'owner.windows'),
    generation: join(folder, 'generation.json'),
    watched: join(folder, 'watched.json'),
  };
}

/** The names that go with a database file outside a store folder; it has no lease or windows, no marker of its use and no note of reads. */
export function besides(main: string): StoreFiles {
  const files = { main, wal: `${main}.live`, journal: `${main}.undo` };
  return { ...files, folder: dirname(main), lease: '', windows: '', generation: '', watched: '' };
}

/** A marker that cannot be read counts as 1: it says that there was a store, which is what it is for. */
export function readGeneration(files: StoreFiles): number {
  try {
    const value: unknown = JSON.parse(readFileSync(files.generation, 'utf8'));
    const generation = typeof value === 'object' && value !== null && 'generation' in value ? Number(value.generation) : NaN;
    return Number.isSafeInteger(generation) && generation > 0 ? generation : 1;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 0 : 1;
  }
}

export function writeGeneration(files: StoreFiles, generation: number): void {
  writeFileAtomic(files.generation, JSON.stringify({ generation }));
}

/**
 * Looks at the database from outside before SQLite may touch it. Throws `corrupt` for a file that is there but is not ours or
 * that has lost its content, `newer_schema` for one of a newer program; returns whether there is anything to open, and its page size.
 */
export function checkDatabaseFile(files: StoreFiles): { exists: boolean; pageSize: number } {
  if (sizeOf(files.main) === 0) {
    const generation = readGeneration(files);
    if (generation > 0)
      throw new StoreError('corrupt', english('{0} is empty or missing, but was opened {1} times before', files.main, generation));
    if (sizeOf(files.wal) > 0) throw new StoreError('corrupt', english('{0} is empty or missing, but {1} is there', files.main, files.wal));
    return { exists: false, pageSize: 0 };
  }
  const header = readHeader(files.main);
  if (header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
    throw new StoreError('corrupt', english('{0} is not a database', files.main));
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) throw new StoreError('corrupt', english('{0} has a damaged header', files.main));
  const owner = header.readUInt32BE(68);
  if (owner !== 0 && owner !== applicationId) throw new StoreError('corrupt', english('{0} belongs to another program', files.main));
  refuseNewer(header.readUInt32BE(60), files.main);
  return { exists: true, pageSize };
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function readHeader(file: string): Buffer {
  const header = Buffer.alloc(100);
  const fd = openSync(file, 'r');
  try {
    const read = readSync(fd, header, 0, 100, 0);
    if (read < 100) throw new StoreError('corrupt', english('{0} ends after {1} bytes', file, read));
    return header;
  } finally {
    closeSync(fd);
  }
}
