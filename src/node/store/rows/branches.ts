import { markTypes } from '../../../core/session/entryKinds';
import type { StoredEntry } from '../../../core/session/entry';
import type { Fork, LiveBranch } from '../../../core/branches/branch';
import type { TranscriptPage } from '../../../core/branches/transcriptPage';
import type { Session } from '../../../core/session/session';
import type { EntryRows } from './entryRows';
import type { TreeRows } from './treeRows';
import type { UsageRows } from './usageRows';

/** Reads upwards from the leaf and stops where the projection stops, so that its cost follows the window and not the history. */
export function liveBranch(rows: EntryRows, usage: UsageRows, session: Session, seal: string): LiveBranch {
  const entries: StoredEntry[] = [];
  const dead = new Set<string>();
  let firstKept: string | null | undefined;
  for (const entry of rows.walkUp(session.leaf)) {
    entries.push(entry);
    const { content } = entry;
    if (content.type === 'compaction_undone') dead.add(content.target);
    if (content.type === 'compaction') {
      // An undone record still supersedes: undoing an improved summary brings back the originals, not the worse summary.
      if (content.supersedes) dead.add(content.supersedes);
      if (firstKept === undefined && !dead.has(entry.uuid)) firstKept = content.firstKeptEntry;
    }
    if (firstKept === entry.uuid || firstKept === null) break;
  }
  entries.reverse();
  return { session, entries, lastUsage: usage.lastMeasurement(entries), seal };
}

export function transcriptPage(
  rows: EntryRows,
  tree: TreeRows,
  session: Session,
  query: { readonly before?: string; readonly limit: number },
): TranscriptPage {
  const before = query.before === undefined ? undefined : rows.find(query.before);
  if (query.before !== undefined && !before) return { entries: [], hasMore: false, forks: [], beyondLeaf: [] };
  const walked: StoredEntry[] = [];
  let displayed = 0;
  let hasMore = false;
  for (const entry of rows.walkUp(before ? before.parent : session.leaf)) {
    hasMore = entry.display && displayed === query.limit;
    if (hasMore) break;
    if (entry.display) displayed++;
    walked.push(entry);
  }
  // A page may begin with a side entry whose parent is not displayed; what is older than it hangs off the same parent.
  const resumedAt = before && markTypes.has(before.content.type) ? before : undefined;
  const sides = rows.sideEntriesOf(walked.map(({ uuid }) => uuid));
  const page = walked.reverse().map((entry) => {
    const isResumed = entry.uuid === resumedAt?.parent;
    const shown = (sides.get(entry.uuid) ?? []).filter((side) => !isResumed || side.seq < (resumedAt?.seq ?? 0));
    return entry.display ? [entry, ...shown] : shown;
  });
  const parents = walked.map(({ parent }) => parent);
  const children = tree.children(before ? parents : [...parents, session.leaf], membersOf(tree, session, walked));
  const forks = walked.flatMap(({ uuid: entry, seq, parent }): Fork[] => {
    const branches = children.get(parent) ?? [];
    return branches.length > 1 ? [{ entry, seq, branches }] : [];
  });
  return { entries: page.flat(), hasMore, forks, beyondLeaf: before ? [] : (children.get(session.leaf) ?? []) };
}

/** A fork has only the branch that it comes from of what its ancestors lead to; the rest belongs to the session that it is from. */
function membersOf(
  tree: TreeRows,
  { uuid, forkEntry }: Session,
  walked: readonly StoredEntry[],
): (child: { readonly uuid: string; readonly session: string }) => boolean {
  const onBranch = new Set(walked.map((entry) => entry.uuid));
  return (child) => child.session === uuid || onBranch.has(child.uuid) || (forkEntry !== null && tree.isOnBranch(child.uuid, forkEntry));
}
