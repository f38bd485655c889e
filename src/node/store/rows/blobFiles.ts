import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder, writeFileAtomic, type AtomicFs } from '../database/atomicFile';
import { toStoreError } from '../database/connection';

/** Reads what is kept outside the database; undefined when it is missing or no longer what its name says. */
export interface BlobReader {
  read(hash: string): Uint8Array | undefined;
}

/** Content-addressed files beside the database: `blobs/<first two hex digits>/<sha256>`, each there once and never changed. */
export class BlobFiles implements BlobReader {
  private readonly root: string;
  /** Known to be on disk, name and all. */
  private readonly durable = new Set<string>();
  /** Folders whose names are on disk: the process that made one may have died before it could see to that. */
  private readonly durableFolders = new Set<string>();

  constructor(
    private readonly folder: string,
    private readonly fs: AtomicFs & Pick<typeof nodeFs, 'mkdirSync' | 'readFileSync' | 'statSync'> = nodeFs,
  ) {
    this.root = join(folder, 'blobs');
  }

  /**
   * Returns the hash when the bytes are on disk, so that a row may name them. A file stays when the transaction with that row
   * fails: its commit may come back after a power cut. Throws a `StoreError` with no file under the name unless it is whole.
   */
  write(bytes: Uint8Array): string {
    const hash = sha256(bytes);
    const file = this.path(hash);
    try {
      this.makeFolder(dirname(file));
      // It is as with folders: whoever wrote the file may not have come to sync its name.
      if (this.holds(file, bytes)) {
        if (!this.durable.has(hash)) syncFolder(dirname(file), this.fs);
      } else {
        // It grows in the store's folder, where leftovers are swept up when it is opened.
        writeFileAtomic(file, bytes, join(this.folder, `blob-${hash}`), this.fs);
      }
    } catch (error) {
      throw toStoreError(error, error as NodeJS.ErrnoException, file);
    }
    this.durable.add(hash);
    return hash;
  }

  read(hash: string): Uint8Array | undefined {
    try {
      return this.readOrThrow(hash);
    } catch {
      return undefined;
    }
  }

  /**
   * As `read`, but throws a `StoreError` where the file cannot be read now (it is in use, too many are open, the disk does not answer):
   * whoever tells others what it says is not to take it for lost.
   */
  readOrThrow(hash: string): Uint8Array | undefined {
    const file = this.path(hash);
    try {
      const bytes = this.fs.readFileSync(file);
      return sha256(bytes) === hash ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length) : undefined;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw toStoreError(error, error as NodeJS.ErrnoException, file);
    }
  }

  /** Whether there is a file of it; what is in it, `read` says. */
  has(hash: string): boolean {
    return this.fs.statSync(this.path(hash), { throwIfNoEntry: false }) !== undefined;
  }

  /** Whether it is gone. */
  remove(hash: string): boolean {
    try {
      this.fs.rmSync(this.path(hash), { force: true });
      this.durable.delete(hash);
      return true;
    } catch {
      return false;
    }
  }

  private makeFolder(shard: string): void {
    const created = this.fs.mkdirSync(shard, { recursive: true, mode: 0o700 });
    if (created === undefined && this.durableFolders.has(shard)) return;
    for (const folder of [this.root, this.folder]) syncFolder(folder, this.fs);
    this.durableFolders.add(shard);
  }

  private holds(file: string, bytes: Uint8Array): boolean {
    if (this.fs.statSync(file, { throwIfNoEntry: false })?.size !== bytes.length) return false;
    return this.fs.readFileSync(file).equals(bytes);
  }

  private path(hash: string): string {
    return blobFile(this.folder, hash);
  }
}

export function blobFile(folder: string, hash: string): string {
  return join(folder, 'blobs', hash.slice(0, 2), hash);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
