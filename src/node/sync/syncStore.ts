import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { SessionStore } from '../../core/ports';
import { syncOnce, type SyncDeps, type SyncReport } from '../../core/sync/exchange';
import type { SyncEngine } from '../../core/sync/syncEngine';
import type { SyncStore } from '../../core/sync/syncStore';
import { FileMemoryNotes } from '../memory/fileMemoryNotes';
import { GcmSealer } from './gcmSealer';
import type { HistoryKeys } from './historyKeys';
import { NoteFiles, type NoteProblem } from './noteFiles';
import { storeReplica } from './storeReplica';

export interface StoreSyncReport extends SyncReport {
  readonly notes: readonly NoteProblem[];
}

/** Brings a store in which synchronising is on, the notes beside it and the engine together once (`syncOnce`). */
export async function syncStoreOnce(
  store: SyncStore & Pick<SessionStore, 'status'>,
  engine: SyncEngine,
  keys: HistoryKeys,
  told: Pick<SyncDeps, 'onProgress' | 'onUsable' | 'signal'> = {},
): Promise<StoreSyncReport> {
  const folder = join(dirname(store.status.file), 'notes');
  const notes = new NoteFiles(store, new FileMemoryNotes(folder), folder);
  await notes.collect();
  const held = await store.syncHeld();
  const report = await syncOnce({
    replica: storeReplica(store),
    engine,
    sealer: new GcmSealer(keys, held.keys),
    newId: randomUUID,
    ...told,
  });
  return { ...report, notes: await notes.apply() };
}
