import type { SyncReplica } from '../../core/sync/syncReplica';
import type { SyncStore } from '../../core/sync/syncStore';

/** A store, whoever owns its file, as the exchange sees it. */
export function storeReplica(store: SyncStore): SyncReplica {
  return {
    held: () => store.syncHeld(),
    rows: (range) => store.syncRows(range),
    pending: (most) => store.syncPending(most),
    write: (rows, keys, receipt) => store.syncWrite(rows, keys, receipt),
    receive: (rows, keys) => store.syncReceive(rows, keys),
    settleKeys: (pushed, dropped) => store.syncSettleKeys(pushed, dropped),
    renew: (device, from, rows, keys) => store.syncRenew(device, from, rows, keys),
  };
}
