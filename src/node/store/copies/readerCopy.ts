import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { StoreStatus } from '../../../core/ports';
import type { Connection } from '../database/connection';
import { copyStore, storeVersion } from './readonlyCopy';
import type { Sqlite } from '../wasm/sqlite';
import { openCopy, openInMemory } from '../database/storeDatabase';
import type { StoreFiles } from '../database/storeFiles';

export interface ReaderCopy {
  readonly connection: Connection;
  /** It is the version of what was read (readonlyCopy.ts). */
  readonly version: string;
  dispose(): void;
}

/** Why a store is only read, and whether that may pass: then each try to write, and each refresh, tries to own it again. */
export function mayPass(note: StoreStatus['note']): boolean {
  return note?.reason === 'disk_full' || note?.reason === 'folder_readonly';
}

/**
 * Opens what another process may be writing. Where the disk has no room for a copy, in memory. A write is refused with the reason
 * that `note` gives. Throws as `copyStore` and SQLite do.
 */
export function openReaderCopy(sqlite: Sqlite, files: StoreFiles, note: NonNullable<StoreStatus['note']>): ReaderCopy {
  const refuse = () => {
    const reason = note.reason === 'disk_full' ? 'disk_full' : note.reason === 'folder_readonly' ? 'permission' : 'readonly';
    throw new StoreError(reason, english('{0} is read-only: {1}', files.main, note.detail));
  };
  let copy: ReturnType<typeof copyStore>;
  try {
    copy = copyStore(files);
  } catch (error) {
    if (!StoreError.is(error) || error.reason !== 'disk_full') throw error;
    const version = storeVersion(files);
    const { connection, abandon } = openInMemory(sqlite, files, refuse);
    return { connection, version, dispose: abandon };
  }
  try {
    const { connection, abandon } = openCopy(sqlite, copy.files, refuse, files.main);
    return { connection, version: copy.version, dispose: () => (abandon(), copy.dispose()) };
  } catch (error) {
    copy.dispose();
    throw error;
  }
}
