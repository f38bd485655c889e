import { t } from '../../core/l10n';
import { createMemoryTool } from '../../core/memory/memoryTool';
import type { MemoryNotes, SessionStore } from '../../core/ports';
import type { RecallStore } from '../../core/recall/answers/elsewhere';
import { untrashed } from '../../core/recall/answers/untrashed';
import { createRecallTool } from '../../core/recall/recallTool';
import type { StoredEntry } from '../../core/session/entry';
import { newSeal } from '../../node/runtime/ids';
import type { RunSharedTool } from './sharedTools';

export interface SharedToolDeps {
  readonly store: () => Promise<SessionStore>;
  readonly notes: () => Promise<MemoryNotes>;
  /** UUID of the session on show. */
  readonly session: () => string | null;
}

/** Our own tools as other agents may call them: only what reads, and of the history only what the user was asked about. */
export function sharedToolRuns({ store, notes, session }: SharedToolDeps): RunSharedTool {
  const recall = (found: RecallStore, input: object, signal: AbortSignal) =>
    createRecallTool({ store: found, session, newSeal }).run(input, signal);
  return async (name, input, signal) => {
    const run = {
      recall: async () => {
        const open = session();
        if (open === null) return { text: t('No Threadkeeper session is open in this window.') };
        return recall(ofSession(await store(), open), { ...input, allSessions: false }, signal);
      },
      search: async () => recall(untrashed(await store()), { ...input, allSessions: true }, signal),
      notes: async () => createMemoryTool(await notes()).run({ ...input, command: 'view' }, signal),
    }[name];
    return (await run()).text;
  };
}

/** One session of the store, with what it shares with others as a fork: numbers of entries lead into every session. */
function ofSession(store: SessionStore, session: string): RecallStore {
  const isOwn = async (entry: StoredEntry): Promise<boolean> => {
    if (entry.session === session) return true;
    const leaf = (await store.session(session))?.leaf ?? null;
    return leaf !== null && (await store.commonAncestor(entry.uuid, leaf)) === entry.uuid;
  };
  const own = async (entries: readonly StoredEntry[]): Promise<StoredEntry[]> => {
    const found: StoredEntry[] = [];
    for (const entry of entries) if (await isOwn(entry)) found.push(entry);
    return found;
  };
  return {
    search: (query) => store.search({ ...query, session }),
    session: (uuid) => store.session(uuid),
    following: (entry, _session, most) => store.following(entry, session, most),
    untrashed: (uuids) => store.untrashed(uuids),
    blob: (hash) => store.blob(hash),
    entries: async (uuids) => own(await store.entries(uuids)),
    entriesBySeq: async (seqs) => own(await store.entriesBySeq(seqs)),
  };
}
