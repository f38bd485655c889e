import type { StoredEntry } from '../../session/entry';
import type { RecallStore } from './elsewhere';

/**
 * What is read of a store by the ids of entries, without what is in the trash: searches and lists leave that out by themselves. What a fork
 * shares with a session in the trash is not in it: the fork's own answers name these ids.
 */
export function untrashed(store: RecallStore): RecallStore {
  const trashed = new Map<string, boolean>();
  const isTrashed = async (session: string): Promise<boolean> => {
    const is = trashed.get(session) ?? ((await store.session(session))?.deletedAt ?? null) !== null;
    trashed.set(session, is);
    return is;
  };
  const shown = async (entries: readonly StoredEntry[]): Promise<StoredEntry[]> => {
    const inTrash = new Set<string>();
    for (const { uuid, session } of entries) if (await isTrashed(session)) inTrash.add(uuid);
    const shared = new Set(inTrash.size === 0 ? [] : await store.untrashed([...inTrash]));
    return entries.filter(({ uuid }) => !inTrash.has(uuid) || shared.has(uuid));
  };
  return {
    search: (query) => store.search(query),
    session: (uuid) => store.session(uuid),
    following: (entry, session, most) => store.following(entry, session, most),
    untrashed: (uuids) => store.untrashed(uuids),
    blob: (hash) => store.blob(hash),
    entries: async (uuids) => shown(await store.entries(uuids)),
    entriesBySeq: async (seqs) => shown(await store.entriesBySeq(seqs)),
  };
}
