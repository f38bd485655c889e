import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { StoreStatus } from '../../../core/ports';
import type { HostEvents, OpenedStore } from '../owner/storeService';
import { storeVersion, copyStore } from './readonlyCopy';
import type { Sqlite } from '../wasm/sqlite';
import { isCoreCall, openOperations } from '../owner/storeOperations';
import { readGeneration, sizeOf, type StoreFiles } from '../database/storeFiles';
import type { Connection } from '../database/connection';
import { openCopy, openInMemory } from '../database/storeDatabase';

/** A private copy of a store that cannot be owned, and whose owner cannot be reached. Tells when the owner has written. */
export function openCopied(
  sqlite: Sqlite,
  files: StoreFiles,
  note: NonNullable<StoreStatus['note']>,
  events: HostEvents,
  pollMs = 500,
): OpenedStore {
  if (sizeOf(files.main) === 0 && readGeneration(files) === 0)
    throw new StoreError('io', english('There is no history here yet: {0} does not exist', files.main));
  const open = () => {
    const copy = openReaderCopy(sqlite, files, note);
    return { ...copy, core: openOperations(copy.connection, files.folder, 'reader') };
  };
  let opened = open();
  let seen = opened.version;
  const status: StoreStatus = { access: 'readonly', durability: 'file', note, file: files.main };
  const poll = setInterval(() => {
    const version = lookFor(files) ?? seen;
    if (version === seen) return;
    seen = version;
    events.onStatus(status, null);
  }, pollMs);
  poll.unref();
  const close = () => {
    clearInterval(poll);
    opened.dispose();
  };
  return {
    status,
    nonce: null,
    call: (method, args) => {
      if (method === 'activity') return { holder: null, streaming: [] };
      if (!isCoreCall(method)) throw new StoreError('readonly', english('{0} is read-only here', files.main));
      return (opened.core[method] as (...args: unknown[]) => unknown).call(opened.core, ...args);
    },
    refresh: () => {
      if (storeVersion(files) === opened.version) return;
      const before = opened;
      opened = open();
      seen = opened.version;
      before.dispose();
    },
    close,
    abandon: close,
  };
}

function lookFor(files: StoreFiles): string | undefined {
  try {
    return storeVersion(files);
  } catch {
    // The folder is out of reach for the moment; what was read before stays valid.
    return undefined;
  }
}

interface ReaderCopy {
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
