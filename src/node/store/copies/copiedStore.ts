import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { StoreStatus } from '../../../core/ports';
import type { HostEvents, OpenedStore } from '../owner/openedStore';
import { openReaderCopy } from './readerCopy';
import { storeVersion } from './readonlyCopy';
import type { Sqlite } from '../wasm/sqlite';
import { StoreOperations } from '../owner/storeOperations';
import { readGeneration, sizeOf } from '../database/storeFiles';
import type { StoreFiles } from '../database/storeFiles';
import { isCoreCall } from '../client/storeProtocol';

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
    return { ...copy, core: new StoreOperations(copy.connection, files.folder, 'reader') };
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
