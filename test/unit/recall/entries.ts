import type { SessionStore } from '../../../src/core/ports';
import type { EntryContent, StoredEntry } from '../../../src/core/session/entry';
import type { Session } from '../../../src/core/session/session';
import { SearchStore } from '../../support/store/searchStore';
import { tempFolder, type TempFolder } from '../../support/store/storeTemp';

/** Noon, so that local dates are the same days everywhere. */
export const noon = new Date(2026, 10, 20, 12, 0).getTime();

/** Entries with `seq` 1, 2, 3 …, each following the one before it in its session. */
export function entriesOf(contents: readonly (EntryContent & { session?: string; parent?: string | null })[]): StoredEntry[] {
  const last = new Map<string, string>();
  return contents.map(({ session = 's1', parent, ...content }, i) => {
    const uuid = `u${i + 1}`;
    const entry: StoredEntry = {
      uuid,
      seq: i + 1,
      session,
      parent: parent === undefined ? (last.get(session) ?? null) : parent,
      createdAt: noon + i * 60_000,
      modelFacing: true,
      display: true,
      tokenEstimate: null,
      content: content as EntryContent,
    };
    last.set(session, uuid);
    return entry;
  });
}

export const user = (text: string, session?: string) => ({
  type: 'message' as const,
  role: 'user' as const,
  text,
  ...(session ? { session } : {}),
});
export const assistant = (text: string, session?: string) => ({
  type: 'message' as const,
  role: 'assistant' as const,
  text,
  ...(session ? { session } : {}),
});
export const result = (name: string, text: string) => ({ type: 'tool_result' as const, callId: 'c', name, text, status: 'ok' as const });

export type HistoryStore = Pick<SessionStore, 'search' | 'session' | 'entries' | 'entriesBySeq' | 'following' | 'untrashed' | 'blob'>;

const opened: { readonly store: SearchStore; readonly folder: TempFolder }[] = [];
after(() => {
  for (const { store, folder } of opened) {
    store.database.close();
    folder.remove();
  }
});

/** A real store with these entries; the last one is the leaf of its session. */
export function historyOf(entries: readonly StoredEntry[], sessions: Readonly<Record<string, Partial<Session>>> = {}): HistoryStore {
  const filled = fill(entries, sessions);
  return {
    search: async (query) => (await filled).core.search(query),
    session: async (uuid) => (await filled).core.session(uuid),
    entries: async (uuids) => (await filled).core.entries(uuids),
    entriesBySeq: async (seqs) => (await filled).core.entriesBySeq(seqs),
    following: async (entry, session, most) => (await filled).core.following(entry, session, most),
    untrashed: async (uuids) => (await filled).core.untrashed(uuids),
    blob: async (hash) => (await filled).core.blob(hash),
  };
}

async function fill(entries: readonly StoredEntry[], sessions: Readonly<Record<string, Partial<Session>>>): Promise<SearchStore> {
  const folder = tempFolder();
  const store = await SearchStore.open(folder.path);
  opened.push({ store, folder });
  const { core, database } = store;
  for (const uuid of new Set(['s1', ...Object.keys(sessions), ...entries.map(({ session }) => session)]))
    store.session(uuid, sessions[uuid]?.title ?? '');
  for (const { seq: _seq, ...entry } of entries) core.append(entry.session, { entries: [entry] });
  for (const [uuid, { id, parentSession, forkEntry }] of Object.entries(sessions)) {
    database.connection.run('UPDATE sessions SET id = coalesce(?, id), parent_session = ?, fork_entry = ? WHERE uuid = ?', [
      id ?? null,
      parentSession ?? null,
      forkEntry ?? null,
      uuid,
    ]);
  }
  return store;
}
