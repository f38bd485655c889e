import { randomUUID } from 'node:crypto';
import { syncOnce, type SyncDeps, type SyncReport } from '../../core/sync/exchange';
import type { SyncEngine } from '../../core/sync/syncEngine';
import type { SyncStore } from '../../core/sync/syncStore';
import { GcmSealer } from './gcmSealer';
import type { HistoryKeys } from './historyKeys';
import { storeReplica } from './storeReplica';

/** Brings a store in which synchronising is on and the engine together once (`syncOnce`). */
export async function syncStoreOnce(
  store: SyncStore,
  engine: SyncEngine,
  keys: HistoryKeys,
  onProgress: NonNullable<SyncDeps['onProgress']> = () => undefined,
): Promise<SyncReport> {
  const held = await store.syncHeld();
  return syncOnce({ replica: storeReplica(store), engine, sealer: new GcmSealer(keys, held.keys), newId: randomUUID, onProgress });
}
