import type { ReceivedRow, SyncReplica } from '../../core/sync/syncReplica';
import type { SyncStore } from '../../core/sync/syncStore';

/**
 * Characters and bytes that go to the store at once: in a window that does not own it a message takes 64 MB, of which a character may
 * take three.
 */
const mostAtOnce = 8 * 1024 * 1024;

/** Each is a transaction of its own; what is received may end at any row. */
function batches(rows: readonly ReceivedRow[]): ReceivedRow[][] {
  const all: ReceivedRow[][] = [];
  let size = Infinity;
  for (const row of rows) {
    const own = JSON.stringify(row.change).length + row.row.sealed.length;
    if (size + own > mostAtOnce) {
      all.push([]);
      size = 0;
    }
    size += own;
    all.at(-1)!.push(row);
  }
  return all;
}

/** A store, whoever owns its file, as the exchange sees it. */
export function storeReplica(store: SyncStore): SyncReplica {
  return {
    held: () => store.syncHeld(),
    keys: (wanted) => store.syncKeys(wanted),
    rows: (range) => store.syncRows(range),
    pending: (most) => store.syncPending(most),
    write: (rows, keys, receipt) => store.syncWrite(rows, keys, receipt),
    receive: async (rows, keys) => {
      const [first = [], ...rest] = batches(rows);
      await store.syncReceive(first, keys);
      for (const batch of rest) await store.syncReceive(batch, []);
    },
    settleKeys: (pushed, dropped) => store.syncSettleKeys(pushed, dropped),
    renew: (device, from, rows, keys) => store.syncRenew(device, from, rows, keys),
  };
}
