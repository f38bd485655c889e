import type { SessionStore } from '../ports';
import type { StoredEntry } from '../session/entry';
import { markTypes } from '../session/entryKinds';
import { isRecallable } from './history';

type Lookup = Pick<SessionStore, 'entries' | 'entriesBySeq'>;

/** Entries in the order asked for; ids (`#12`, `12` or a UUID) that name none are left out. */
export async function findEntries(store: Lookup, ids: readonly string[]): Promise<Map<string, StoredEntry>> {
  const seqs = ids.map((id) => Number(/^#?(\d{1,15})$/.exec(id)?.[1] ?? Number.NaN));
  const uuids = ids.filter((_, i) => Number.isNaN(seqs[i]));
  const known = seqs.filter((seq) => !Number.isNaN(seq));
  const [byUuid, bySeq] = await Promise.all([
    uuids.length === 0 ? [] : store.entries(uuids),
    known.length === 0 ? [] : store.entriesBySeq(known),
  ]);
  const found = new Map<string, StoredEntry>();
  ids.forEach((id, i) => {
    const entry = Number.isNaN(seqs[i]) ? byUuid.find(({ uuid }) => uuid === id) : bySeq.find(({ seq }) => seq === seqs[i]);
    if (entry) found.set(id, entry);
  });
  return found;
}

/** Steps of a branch that are looked at for a neighbour that says something. */
const maxSteps = 100;
/** The entries after one are found among the next ones stored: other sessions may have written between them. */
const window = 50;
const maxWindows = 20;

/** The entries of the same branch around one, oldest first, the entry itself included. */
export async function findAround(store: Lookup, entry: StoredEntry, before: number, after: number): Promise<StoredEntry[]> {
  const earlier: StoredEntry[] = [];
  let parent = entry.parent;
  for (let i = 0; i < maxSteps && parent !== null && earlier.length < before; i++) {
    const [previous] = await store.entries([parent]);
    if (!previous) break;
    if (isRecallable(previous.content)) earlier.unshift(previous);
    parent = previous.parent;
  }
  const later: StoredEntry[] = [];
  let current = entry.uuid;
  for (let i = 0; i < maxWindows && later.length < after; i++) {
    const from = entry.seq + 1 + i * window;
    const next = await store.entriesBySeq(Array.from({ length: window }, (_, k) => from + k));
    if (next.length === 0) break;
    for (const candidate of [...next].sort((a, b) => a.seq - b.seq)) {
      if (candidate.parent !== current || markTypes.has(candidate.content.type)) continue;
      current = candidate.uuid;
      if (isRecallable(candidate.content) && later.length < after) later.push(candidate);
    }
  }
  return [...earlier, entry, ...later];
}
