import { CancelledError } from '../../errors';
import { oneLine } from '../../frames/frames';
import type { SessionStore } from '../../ports';
import type { SearchHit, SearchQuery, SearchResult } from '../../session/searchQuery';
import { programNameOf } from '../../transfer/programs';

export type RecallStore = Pick<SessionStore, 'search' | 'session' | 'entries' | 'entriesBySeq' | 'following' | 'untrashed' | 'blob'>;

/** Histories of the user's other workspaces on this machine, under names that are each one's own, and plain (`plainName`). */
export interface Elsewhere {
  /**
   * What `work` finds in each, one history after the other, the one that was used last first; null where a history could not be read, or is
   * not looked at because there are too many.
   */
  search(work: (store: RecallStore) => Promise<FoundHere>, isWanted: () => boolean): AsyncIterable<FoundElsewhere>;
  /** Resolves with undefined when no other workspace is called so. Rejects with `StoreError`. */
  read<T>(workspace: string, work: (store: RecallStore) => Promise<T>): Promise<T | undefined>;
}

interface FoundHere {
  readonly result: SearchResult;
  /** The program of each session among the hits, by the session's UUID. */
  readonly programs: ReadonlyMap<string, string>;
}

export interface FoundElsewhere {
  readonly workspace: string;
  readonly found: FoundHere | null;
}

/** A hit, with where it comes from when several histories were searched. */
export interface PlacedHit extends SearchHit {
  /** Absent: this workspace. */
  readonly workspace?: string;
  /** The program in which it was said. */
  readonly program?: string;
}

/** The name of a workspace as it may stand in a sentence of the program's own: its folder may be called anything. */
export function plainName(workspace: string): string {
  return oneLine(workspace)
    .replace(/[<>"\\]/g, ' ')
    .slice(0, longestName)
    .trim();
}

const longestName = 60;

/** Hits of each history but this workspace's. */
const mostOfOther = 20;

export interface EverywhereResult {
  /** Best first, of all histories together. */
  readonly hits: readonly PlacedHit[];
  readonly terms: readonly string[];
  readonly complete: boolean;
  /** Workspaces that were not searched. */
  readonly unread: readonly string[];
}

/** Searches all of this workspace, and the others. What cannot be read is named. Rejects with `StoreError` of this one, or when aborted. */
export async function searchEverywhere(
  store: RecallStore,
  elsewhere: Elsewhere,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<EverywhereResult> {
  const here = await searchNamed(store, query);
  const hits = placed(here);
  // A folder that was copied has the same entries once more.
  const known = new Set(hits.map(({ entry }) => entry));
  const unread: string[] = [];
  let { complete } = here.result;
  const others = elsewhere.search(
    (other) => searchNamed(other, { ...query, limit: Math.min(query.limit, mostOfOther) }),
    () => !signal.aborted,
  );
  for await (const { workspace, found } of others) {
    if (!found) {
      unread.push(workspace);
      continue;
    }
    complete &&= found.result.complete;
    for (const hit of placed(found)) if (!known.has(hit.entry)) hits.push({ ...hit, workspace });
    for (const { entry } of found.result.hits) known.add(entry);
  }
  if (signal.aborted) throw new CancelledError();
  return { hits: hits.sort((a, b) => b.score - a.score), terms: here.result.terms, complete, unread };
}

async function searchNamed(store: RecallStore, query: SearchQuery): Promise<FoundHere> {
  const result = await store.search(query);
  const programs = new Map<string, string>();
  for (const uuid of new Set(result.hits.map(({ session }) => session))) {
    const session = await store.session(uuid);
    if (session) programs.set(uuid, programNameOf(session));
  }
  return { result, programs };
}

function placed({ result, programs }: FoundHere): PlacedHit[] {
  return result.hits.map((hit) => {
    const program = programs.get(hit.session);
    return program === undefined ? hit : { ...hit, program };
  });
}
