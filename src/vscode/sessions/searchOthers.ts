import { errorText } from '../../core/errors';
import type { Logger } from '../../core/ports';
import { searchTyped } from '../../core/recall/parseSearchText';
import { wordsFirst, type SearchHit, type SearchResult } from '../../core/session/searchQuery';
import type { OtherSessions } from './tree/otherSessions';
import type { OtherWorkspace } from './tree/sessionNodes';

/** What was found in one history; of this workspace's own, `workspace` is null. `result` is null where it could not be read. */
export interface FoundIn {
  readonly workspace: OtherWorkspace | null;
  readonly result: SearchResult | null;
}

export interface RankedHit {
  readonly workspace: OtherWorkspace | null;
  readonly hit: SearchHit;
  /** What it was found with. */
  readonly result: SearchResult;
}

export interface OtherHistories {
  /** Histories that are searched beside this one, the one that was used last first. */
  readonly search: (text: string, isWanted: () => boolean) => AsyncIterable<FoundIn>;
}

/** Stores that one search opens at most: each is a process's thread, and a copy of a file. */
const mostStores = 24;

/**
 * One history after the other, each opened for reading in a thread of its own and kept for the next search for a while. Ends when nobody
 * wants the answer any more.
 */
export function otherHistories(others: Pick<OtherSessions, 'list' | 'read'>, log: Logger): OtherHistories {
  return {
    async *search(text, isWanted) {
      for (const workspace of (await others.list()).slice(0, mostStores)) {
        if (!isWanted()) return;
        try {
          yield { workspace, result: await others.read(workspace.folder, (store) => searchTyped(store, text)) };
        } catch (error) {
          log.warn('other_workspace_not_searched', { folder: workspace.folder, detail: errorText(error) });
          yield { workspace, result: null };
        }
      }
    },
  };
}

/** The hits of all, best first: those with a word of the query before those that only stand beside one. */
export function rankedHits(parts: readonly FoundIn[], most: number): RankedHit[] {
  const of = new Map<SearchHit, Omit<RankedHit, 'hit'>>();
  for (const { workspace, result } of parts) for (const hit of result?.hits ?? []) of.set(hit, { workspace, result: result! });
  const best = [...of.keys()].sort((a, b) => b.score - a.score);
  return wordsFirst(best)
    .slice(0, most)
    .map((hit) => ({ hit, ...of.get(hit)! }));
}
