import { errorText } from '../../core/errors';
import type { Logger, SessionStore } from '../../core/ports';
import { plainName, type Elsewhere } from '../../core/recall/answers/elsewhere';
import { wordsFirst, type SearchHit, type SearchResult } from '../../core/session/searchQuery';
import type { OtherSessions } from './tree/otherSessions';
import type { OtherWorkspace } from './tree/otherWorkspace';

/** What was found in one history; of this workspace's own, `workspace` is null. */
export interface FoundIn extends ReadOf<SearchResult> {
  readonly workspace: OtherWorkspace | null;
}

/** What one history has answered; `result` is null where it could not be read. */
interface ReadOf<T> {
  readonly result: T | null;
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
  /** What `work` finds in each history beside this one, the one that was used last first. */
  read<T>(
    work: (store: SessionStore) => Promise<T>,
    isWanted: () => boolean,
  ): AsyncIterable<ReadOf<T> & { readonly workspace: OtherWorkspace }>;
}

/** Stores that one search opens at most: each is a process's thread, and may be a copy of a file. */
const mostStores = 24;

/**
 * One history after the other, each opened for reading in a thread of its own and kept for the next search for a while. Ends when nobody
 * wants the answer any more.
 */
export function otherHistories(others: Pick<OtherSessions, 'list' | 'read'>, log: Logger): OtherHistories {
  return {
    async *read(work, isWanted) {
      const all = await others.list();
      for (const workspace of all.slice(mostStores)) yield { workspace, result: null, isLeftOut: true };
      for (const workspace of all.slice(0, mostStores)) {
        if (!isWanted()) return;
        try {
          yield { workspace, result: await others.read(workspace.folder, work) };
        } catch (error) {
          log.warn('other_workspace_not_searched', { folder: workspace.folder, detail: errorText(error) });
          yield { workspace, result: null };
        }
      }
    },
  };
}

/** The same histories for the model's recall, which knows each by a name that no other has. */
export function recallElsewhere(others: Pick<OtherSessions, 'list' | 'read'>, log: Logger): Elsewhere {
  const histories = otherHistories(others, log);
  return {
    async *search(work, isWanted) {
      const names = namesOf(await others.list());
      for await (const { workspace, result } of histories.read(work, isWanted))
        yield { workspace: names.get(workspace.folder) ?? plainName(workspace.name), found: result };
    },
    async read(name, work) {
      const found = [...namesOf(await others.list())].find(([, one]) => one === name);
      return found && others.read(found[0], work);
    },
  };
}

/** By folder; numbered in the order of their folders where several are called the same, so that a name stays. */
function namesOf(workspaces: readonly OtherWorkspace[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { folder, name } of [...workspaces].sort((a, b) => (a.folder < b.folder ? -1 : 1))) {
    const plain = plainName(name) || 'workspace';
    let own = plain;
    for (let n = 2; taken.has(own); n++) own = `${plain}-${n}`;
    taken.add(own);
    names.set(folder, own);
  }
  return names;
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
