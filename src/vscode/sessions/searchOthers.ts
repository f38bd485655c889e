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
  /** It was not looked at: there are too many others. */
  readonly isLeftOut?: true;
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
      const all = await others.list();
      for (const workspace of all.slice(mostStores)) yield { workspace, result: null, isLeftOut: true };
      for (const workspace of all.slice(0, mostStores)) {
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

/**
 * The hits of one history below those of another, in the order in which they came: what is shown stays at its place when more is found.
 * Within a history those with a word of the query stand before those that only stand beside one.
 */
export function groupedHits(parts: readonly FoundIn[], most: number, mostOfOther: number): RankedHit[] {
  return parts
    .flatMap(({ workspace, result }): RankedHit[] => {
      if (!result) return [];
      const best = wordsFirst([...result.hits].sort((a, b) => b.score - a.score));
      return best.slice(0, workspace ? mostOfOther : most).map((hit) => ({ workspace, hit, result }));
    })
    .slice(0, most);
}
