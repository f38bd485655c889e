import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import type { SessionStore } from '../../core/ports';
import { syncOnce, type SyncDeps, type SyncReport } from '../../core/sync/exchange';
import type { SyncEngine } from '../../core/sync/syncEngine';
import type { SyncStore } from '../../core/sync/syncStore';
import { FileMemoryNotes } from '../memory/fileMemoryNotes';
import { exchangeAttachments } from './attachmentExchange';
import { GcmSealer } from './gcmSealer';
import type { HistoryKeys } from './historyKeys';
import { NoteFiles, type NoteProblem } from './noteFiles';
import { storeReplica } from './storeReplica';

type Told = Pick<SyncDeps, 'onProgress' | 'onUsable' | 'signal'> & {
  /** All texts are there; the bytes of attachments are still to come. */
  readonly onTexts?: (report: StoreSyncReport) => void;
  readonly isDue?: () => boolean;
};

export interface StoreSyncReport extends SyncReport {
  readonly notes: readonly NoteProblem[];
}

/**
 * Brings a store in which synchronising is on, the notes beside it and the engine together once: first texts (`syncOnce`) and notes, then
 * the bytes of attachments, as long as nothing else is due.
 */
export async function syncStoreOnce(
  store: SyncStore & Pick<SessionStore, 'status'>,
  engine: SyncEngine,
  keys: HistoryKeys,
  { onTexts, isDue, ...told }: Told = {},
): Promise<StoreSyncReport> {
  const folder = join(dirname(store.status.file), 'notes');
  const notes = new NoteFiles(store, new FileMemoryNotes(folder), folder);
  await notes.collect();
  const sealer = new GcmSealer(keys);
  const report = await syncOnce({ replica: storeReplica(store), engine, sealer, newId: randomUUID, ...told });
  const texts = { ...report, notes: await notes.apply() };
  onTexts?.(texts);
  const mayLack = report.refilled > 0 || report.hadLost === true;
  const problems = await exchangeAttachments({ store, engine, keys, sealer, newId: randomUUID, mayLack, signal: told.signal, isDue });
  return { ...texts, problems: [...texts.problems, ...problems] };
}
