import { Connection } from '../database/connection';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { DatabaseFiles } from '../wasm/fileBridge';
import { mergeLog } from '../database/logDamage';
import { migrations, newestVersion } from '../database/migrations';
import { applicationId } from '../database/schema';
import { SalvageLeaves } from './salvageRows';
import type { Sqlite } from '../wasm/sqlite';
import { newPageSize, sizeOf } from '../database/storeFiles';
import { readFileSync } from 'node:fs';

/** A version beyond this is a damaged number and not a newer program. */
const plausibleVersion = 0xffff;

export interface SalvageImage {
  readonly connection: Connection;
  /** They serve for tables that the connection cannot read to the end. */
  readonly leaves: SalvageLeaves;
}

/**
 * A copy in memory of a damaged database with its log, mended as far as its rows can be reached: a damaged header is written
 * anew, a damaged schema is taken from a new store, whose tables begin at the same pages. Null when nothing can be reached.
 * Throws `newer_schema`. Touches no file.
 */
export function openSalvageImage(sqlite: Sqlite, files: DatabaseFiles): SalvageImage | null {
  const pageSize = pageSizeOf(files);
  const image = mergeLog(files, pageSize);
  if (image.length < pageSize) return null;
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength);
  const version = view.getUint32(60);
  if (version > newestVersion() && version <= plausibleVersion && view.getUint32(68) === applicationId) {
    throw new StoreError(
      'newer_schema',
      english('{0} has version {1}; this program knows versions up to {2}', files.main, version, newestVersion()),
    );
  }
  mendHeader(view, pageSize);
  const connection = tryOpen(sqlite, files.main, image) ?? tryOpen(sqlite, files.main, withNewSchema(sqlite, image, pageSize));
  return connection && { connection, leaves: new SalvageLeaves(image, pageSize) };
}

function tryOpen(sqlite: Sqlite, file: string, image: Uint8Array): Connection | null {
  let connection: Connection | null = null;
  try {
    connection = new Connection(sqlite.openMemory(image), { file, beforeCommit: () => undefined });
    connection.exec('PRAGMA query_only = ON');
    const tables = connection.all("SELECT name FROM sqlite_master WHERE type = 'table'").map((row) => row['name']);
    if (['sessions', 'entries', 'bodies'].every((name) => tables.includes(name))) return connection;
  } catch {
    // The other way to open it, or none.
  }
  try {
    connection?.close();
  } catch {
    // Memory that cannot be given back is not worth a failed recovery.
  }
  return null;
}

function pageSizeOf(files: DatabaseFiles): number {
  for (const [file, at, length] of [
    [files.main, 16, 2],
    [files.wal, 8, 4],
  ] as const) {
    if (sizeOf(file) < 100) continue;
    const stored = readFileSync(file).readUIntBE(at, length);
    const size = stored === 1 ? 65536 : stored;
    if (size >= 512 && size <= 65536 && (size & (size - 1)) === 0) return size;
  }
  return newPageSize;
}

/** Format: https://www.sqlite.org/fileformat2.html#the_database_header */
function mendHeader(view: DataView, pageSize: number): void {
  Buffer.from('SQLite format 3\0', 'latin1').forEach((byte, i) => view.setUint8(i, byte));
  view.setUint16(16, pageSize === 65536 ? 1 : pageSize);
  for (const [at, byte] of [
    [18, 1],
    [19, 1],
    [20, 0],
    [21, 64],
    [22, 32],
    [23, 32],
  ] as const)
    view.setUint8(at, byte);
  view.setUint32(28, view.byteLength / pageSize);
  view.setUint32(44, 4);
  view.setUint32(56, 1);
  view.setUint32(92, view.getUint32(24));
}

/** Every page of a new store that is not the root of a table or an index holds its schema, and lies where it lies in all of them. */
function withNewSchema(sqlite: Sqlite, image: Uint8Array, pageSize: number): Uint8Array {
  const database = sqlite.openMemory();
  database.run(`PRAGMA page_size = ${pageSize}`);
  for (const migration of migrations) database.run(`${migration.sql}; PRAGMA user_version = ${migration.to};`);
  const roots = new Set((database.exec('SELECT rootpage FROM sqlite_master')[0]?.values ?? []).map(([root]) => Number(root)));
  const fresh = database.export();
  database.close();
  const mended = new Uint8Array(Math.max(image.length, fresh.length));
  mended.set(image);
  for (let page = 1; page * pageSize <= fresh.length; page++) {
    if (!roots.has(page)) mended.set(fresh.subarray((page - 1) * pageSize, page * pageSize), (page - 1) * pageSize);
  }
  mendHeader(new DataView(mended.buffer), pageSize);
  return mended;
}
