import type { SessionStore } from '../../../core/ports';
import { isDamaged, type StoredEntry } from '../../../core/session/entry';

/** The entries, those read again that came back as damaged: rejects with `StoreError` where that is so only for now. */
export async function entriesToTell(store: SessionStore, entries: readonly StoredEntry[]): Promise<readonly StoredEntry[]> {
  const damaged = entries.flatMap((entry) => (isDamaged(entry) ? [entry.seq] : []));
  if (damaged.length === 0) return entries;
  const again = new Map((await store.entriesBySeq(damaged, true)).map((entry) => [entry.seq, entry]));
  return entries.map((entry) => again.get(entry.seq) ?? entry);
}
