import { readFileSync } from 'node:fs';
import { blobFile, sha256 } from '../rows/blobFiles';
import type { Connection } from '../database/connection';

/** The content of the files beside a store, in a backup of it. */
export const blobContentTable = 'blob_content';

export interface KnownBlob {
  readonly hash: string;
  /** The newest entry that names it; null for an attachment that no entry names yet. */
  readonly entry: number | null;
}

/** Where the content of blobs is: in files beside a store, in a table of a backup. */
export interface BlobStore {
  /** Throws what the file system says. */
  read(hash: string): Uint8Array | undefined;
  /** Why the content is not what its name says; null when it is. */
  problem(hash: string): 'missing' | 'damaged' | 'unreadable' | null;
}

/** Every blob that the database names, by its table or by an entry. */
export function knownBlobs(connection: Connection): KnownBlob[] {
  return connection
    .all(
      'SELECT hash, (SELECT max(entry) FROM bodies WHERE blob_hash = hash) AS entry FROM (SELECT hash FROM blobs UNION SELECT blob_hash FROM bodies WHERE blob_hash IS NOT NULL)',
    )
    .map((row) => ({ hash: String(row['hash']), entry: typeof row['entry'] === 'number' ? row['entry'] : null }));
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
