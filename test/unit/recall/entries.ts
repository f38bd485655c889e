import type { SessionStore } from '../../../src/core/ports';
import { entryText, type EntryContent, type StoredEntry } from '../../../src/core/session/entry';
import type { Session } from '../../../src/core/session/session';

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

export const user = (text: string, session?: string) => ({ type: 'message' as const, role: 'user' as const, text, ...(session ? { session } : {}) });
export const assistant = (text: string, session?: string) => ({ type: 'message' as const, role: 'assistant' as const, text, ...(session ? { session } : {}) });
export const result = (name: string, text: string) => ({ type: 'tool_result' as const, callId: 'c', name, text, status: 'ok' as const });

export type HistoryStore = Pick<SessionStore, 'scan' | 'session' | 'entries' | 'entriesBySeq'>;

export function historyOf(entries: readonly StoredEntry[], sessions: Readonly<Record<string, Partial<Session>>> = {}): HistoryStore & { scans: number[] } {
  const scans: number[] = [];
  return {
    scans,
    scan: async ({ session, beforeSeq = Infinity, limit }) => {
      const found = entries
        .filter((entry) => entryText(entry.content) !== '' && entry.seq < beforeSeq && (session === undefined || entry.session === session))
        .sort((a, b) => b.seq - a.seq)
        .slice(0, limit);
      scans.push(found.length);
      return found;
    },
    session: async (uuid) => ({ uuid, id: uuid, title: '', parentSession: null, forkEntry: null, ...sessions[uuid] }) as Session,
    entries: async (uuids) => entries.filter(({ uuid }) => uuids.includes(uuid)),
    entriesBySeq: async (seqs) => entries.filter(({ seq }) => seqs.includes(seq)),
  };
}
