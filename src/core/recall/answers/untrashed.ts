import type { StoredEntry } from '../../session/entry';
import type { RecallStore } from './elsewhere';

/**
 * What is read of a store by the ids of entries, without what is in the trash: searches and lists leave that out by themselves. What a fork
 * shares with a session in the trash is read in the fork.
 */
export function untrashed(store: RecallStore): RecallStore {
  const trashed = new Map<string, boolean>();
  const isTrashed = async (session: string): Promise<boolean> => {
    const is = trashed.get(session) ?? ((await store.session(session))?.deletedAt ?? null) !== null;
    trashed.set(session, is);
    return is;
  };
  const shown = async (entries: readonly StoredEntry[]): Promise<StoredEntry[]> => {
    const found: StoredEntry[] = [];
    for (const entry of entries) if (!(await isTrashed(entry.session))) found.push(entry);
    return found;
  };
  return {
    search: (query) => store.search(query),
    session: (uuid) => store.session(uuid),
    following: (entry, session, most) => store.following(entry, session, most),
    blob: (hash) => store.blob(hash),
    entries: async (uuids) => shown(await store.entries(uuids)),
    entriesBySeq: async (seqs) => shown(await store.entriesBySeq(seqs)),
  };
}
