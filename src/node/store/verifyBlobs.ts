import { readFileSync } from 'node:fs';
import { blobFile, sha256 } from './blobFiles';
import type { Connection } from './connection';

export interface KnownBlob {
  readonly hash: string;
  /** The newest entry that names it; null for an attachment that no entry names yet. */
  readonly entry: number | null;
}

/** Every blob that the database names, by its table or by an entry. */
export function knownBlobs(connection: Connection): KnownBlob[] {
  return connection
    .all('SELECT hash, (SELECT max(entry) FROM bodies WHERE blob_hash = hash) AS entry FROM (SELECT hash FROM blobs UNION SELECT blob_hash FROM bodies WHERE blob_hash IS NOT NULL)')
    .map((row) => ({ hash: String(row['hash']), entry: typeof row['entry'] === 'number' ? row['entry'] : null }));
}

/** Why the blob's file is not what its name says; null when it is. */
export function blobProblem(folder: string, hash: string): 'missing' | 'damaged' | 'unreadable' | null {
  try {
    return sha256(readFileSync(blobFile(folder, hash))) === hash ? null : 'damaged';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
}
