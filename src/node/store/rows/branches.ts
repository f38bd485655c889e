import { contentSize, isUserMessage, markTypes, entryText, type StoredEntry } from '../../../core/session/entry';
import type { BranchReach, Fork, LiveBranch, BranchTip, TranscriptPage } from '../../../core/branches/branch';
import type { Session } from '../../../core/session/session';
import type { EntryRows } from './entryRows';
import type { TreeRows, TreeNode } from './treeRows';
import type { FileMark } from '../../../core/rewind/fileHistory';
import type { Connection } from '../database/connection';
import type { Seals } from '../database/seals';
import type { Operations } from '../client/storeCalls';
import type { SessionRows } from './sessionRows';
import type { PinRows, TransferRows } from './smallTables';
import type { UsageRows } from './usageRows';

/** Reads upwards from the leaf and stops where the projection stops, so that its cost follows the window and not the history. */
export function liveBranch(rows: EntryRows, usage: UsageRows, session: Session, seal: string, reach?: BranchReach): LiveBranch {
  const entries: StoredEntry[] = [];
  const guessed: string[] = [];
  const isFirst = firstOfLive();
  let left = reach?.texts ?? Infinity;
  let next = session.leaf;
  for (const entry of rows.walkUp(next)) {
    entries.push(entry);
    next = isFirst(entry) ? null : entry.parent;
    left -= left === Infinity ? 0 : contentSize(entry.content);
    if (next === null || left < 0) break;
  }
  const read = entries.length;
  for (const { entry, isGuess } of rows.outlineUp(reach?.outline ? next : null)) {
    entries.push(entry);
    if (isGuess) guessed.push(entry.uuid);
    if (isFirst(entry)) break;
  }
  const count = entries.length - read;
  entries.reverse();
  return {
    session,
    entries,
    ...(count > 0 ? { outline: { count, guessed } } : {}),
    ...(count === 0 && next !== null ? { isCut: true } : {}),
    lastUsage: usage.lastMeasurement(entries),
    requests: usage.lastRequests(entries),
    prepared: rows.newestPrepared(entries),
    seal,
  };
}

/** Told the entries of a branch from the leaf upwards, it says which is the first that the projection reaches. */
function firstOfLive(): (entry: StoredEntry) => boolean {
  const dead = new Set<string>();
  let first: string | undefined;
  return ({ uuid, content }) => {
    if (content.type === 'compaction_undone') dead.add(content.target);
    if (content.type === 'compaction') {
      // An undone record still supersedes: undoing an improved summary brings back the originals, not the worse summary.
      if (content.supersedes) dead.add(content.supersedes);
      const isLive = first === undefined && !dead.has(uuid);
      // As `firstOfRange` has it: a record that kept nothing begins where the one did that it has taken the place of.
      if (isLive || first === uuid) first = content.firstKeptEntry ?? content.supersedes ?? uuid;
    }
    return first === uuid;
  };
}

function transcriptPage(
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
  const parents = new Set([...walked.map(({ parent }) => parent), ...(before ? [] : [session.leaf])]);
  const children = tree.children(
    [...parents].filter((parent) => parent !== null),
    membersOf(tree, session, walked),
  );
  if (parents.has(null)) children.set(null, rootsOf(tree, session, walked));
  const forks = walked.flatMap(({ uuid: entry, seq, parent }): Fork[] => {
    const branches = children.get(parent) ?? [];
    return branches.length > 1 ? [{ entry, seq, branches }] : [];
  });
  const earlier = hasMore ? earlierInTurn(rows, tree, walked[0]) : [];
  return {
    entries: page.flat(),
    hasMore,
    forks,
    beyondLeaf: before ? [] : (children.get(session.leaf) ?? []),
    ...(earlier.length > 0 ? { earlier } : {}),
  };
}

/** Reads the tree up to the message, and of what hangs there only what was done to files. */
function earlierInTurn(rows: EntryRows, tree: TreeRows, oldest: StoredEntry | undefined): StoredEntry[] {
  if (!oldest || oldest.parent === null || isUserMessage(oldest)) return [];
  const uuids: string[] = [];
  for (const { uuid, type, role } of tree.walkUp(oldest.parent)) {
    uuids.unshift(uuid);
    if (type === 'message' && role === 'user') break;
  }
  const message = rows.find(uuids[0]!);
  if (!message || !isUserMessage(message)) return [];
  const sides = rows.sideEntriesOf(uuids);
  return [message, ...uuids.flatMap((uuid) => sides.get(uuid) ?? []).filter(({ content }) => content.type === 'file_changes')];
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

/** Where the session's branches begin, oldest first; a fork's may begin in the session that it is from. */
function rootsOf(tree: TreeRows, { uuid, forkEntry }: Session, walked: readonly StoredEntry[]): string[] {
  const roots = new Map(tree.roots(uuid).map((root) => [root.uuid, root.seq]));
  const first = walked[0];
  if (first?.parent === null) roots.set(first.uuid, first.seq);
  // The rest of a fork's branch has been walked, unless the fork stands at a branch of its own.
  if (forkEntry !== null && !walked.some((entry) => entry.uuid === forkEntry))
    for (const node of tree.walkUp(forkEntry)) if (node.parent === null) roots.set(node.uuid, node.seq);
  return [...roots].sort(([, a], [, b]) => a - b).map(([root]) => root);
}

/** What a node inherits from those before it. */
interface Trace {
  /** The branch has so many up to here, this node included. */
  readonly messages: number;
  /** The last node of the active branch; null when there is none. */
  readonly forkPoint: string | null;
  /** Where the user first spoke after the fork point. */
  readonly firstUser: string | null;
  readonly firstUserOfAll: string | null;
  /** It is from all of the active branch, and elsewhere from what comes after the fork point. */
  readonly label: string | null;
}

const start: Trace = { messages: 0, forkPoint: null, firstUser: null, firstUserOfAll: null, label: null };
const maxTextLength = 200;

/**
 * Every leaf of the session's own entries, the active one, and for a fork where it began if nothing of it follows there; most recent first.
 * Reads the texts of what it returns only.
 */
function branchTips(tree: TreeRows, rows: EntryRows, session: Session): BranchTip[] {
  const own = tree.own(session.uuid);
  const nodes = withAncestors(tree, own, [session.leaf, session.forkEntry]);
  const labels = newestLabels(rows, own);
  const parents = new Set<string>();
  // What a fork added to it does not end being a leaf here.
  for (const node of own) if (node.parent !== null && !markTypes.has(node.type)) parents.add(node.parent);
  const active = new Set(pathTo(nodes, session.leaf));
  const traces = new Map<string, Trace>();
  for (const node of nodes.values())
    traces.set(node.uuid, trace(node, traces.get(node.parent ?? '') ?? start, active.has(node.uuid), labels));
  const isOwn = new Set(own.map(({ uuid }) => uuid));
  return [...nodes.values()]
    .filter(
      ({ uuid, type }) =>
        uuid === session.leaf || ((isOwn.has(uuid) || uuid === session.forkEntry) && !parents.has(uuid) && !markTypes.has(type)),
    )
    .sort((x, y) => y.createdAt - x.createdAt || y.seq - x.seq)
    .map((node) => tip(rows, node, traces.get(node.uuid) ?? start, node.uuid === session.leaf));
}

function tip(rows: EntryRows, node: TreeNode, trace: Trace, active: boolean): BranchTip {
  const first = rows.find((active ? trace.firstUserOfAll : trace.firstUser) ?? '');
  return {
    leaf: node.uuid,
    at: node.createdAt,
    messages: trace.messages,
    firstText: first ? entryText(first.content).slice(0, maxTextLength) : null,
    forkPoint: active ? null : trace.forkPoint,
    active,
    label: trace.label,
  };
}

function trace(node: TreeNode, before: Trace, isActive: boolean, labels: ReadonlyMap<string, string>): Trace {
  const isMessage = node.type === 'message';
  const isUser = isMessage && node.role === 'user';
  const isParting = !isActive && node.parent !== null && node.parent === before.forkPoint;
  return {
    messages: before.messages + (isMessage ? 1 : 0),
    forkPoint: isActive ? node.uuid : before.forkPoint,
    firstUser: isActive ? null : (before.firstUser ?? (isUser ? node.uuid : null)),
    firstUserOfAll: before.firstUserOfAll ?? (isUser ? node.uuid : null),
    label: labels.get(node.uuid) ?? (isParting ? null : before.label),
  };
}

/** Parents first. */
function withAncestors(tree: TreeRows, own: readonly TreeNode[], leaves: readonly (string | null)[]): Map<string, TreeNode> {
  const nodes = new Map(own.map((node) => [node.uuid, node]));
  const tops = [...own.flatMap(({ parent }) => parent ?? []), ...leaves.flatMap((leaf) => leaf ?? [])];
  for (const top of tops) {
    if (nodes.has(top)) continue;
    for (const node of tree.walkUp(top)) {
      if (nodes.has(node.uuid)) break;
      nodes.set(node.uuid, node);
    }
  }
  return new Map([...nodes].sort(([, x], [, y]) => x.seq - y.seq));
}

function* pathTo(nodes: ReadonlyMap<string, TreeNode>, leaf: string | null): Generator<string, void, void> {
  for (let at = leaf; at !== null; at = nodes.get(at)?.parent ?? null) yield at;
}

/** They are found by the entry they are on. An empty label takes the one before it away. */
function newestLabels(rows: EntryRows, own: readonly TreeNode[]): Map<string, string> {
  const labels = new Map<string, string>();
  for (const { uuid, type } of own) {
    const content = type === 'label' ? rows.find(uuid)?.content : undefined;
    if (content?.type === 'label') labels.set(content.target, content.label);
  }
  for (const [target, label] of labels) if (label === '') labels.delete(target);
  return labels;
}

interface BranchNeeds {
  readonly connection: Connection;
  readonly sessions: SessionRows;
  readonly entries: EntryRows;
  readonly tree: TreeRows;
  readonly usage: UsageRows;
  readonly pins: PinRows;
  readonly transfers: TransferRows;
  readonly seals: Seals;
}

export const branchOperations = {
  branches: ({ tree, entries, sessions }, session) => branchTips(tree, entries, sessions.require(session)),
  commonAncestor: ({ tree }, a, b) => tree.commonAncestor(a, b),
  liveBranch: ({ entries, usage, sessions, seals }, session, reach) =>
    liveBranch(entries, usage, sessions.require(session), seals.of(session), reach),
  page: ({ entries, tree, sessions }, session, query) => transcriptPage(entries, tree, sessions.require(session), query),
  following: ({ tree, sessions }, entry, session, most) => {
    const own = tree.sessionOf(entry);
    if (own === undefined) return [];
    for (const uuid of new Set([session ?? own, own])) {
      const path = tree.between(entry, sessions.find(uuid)?.leaf ?? null);
      if (path) return path.slice(0, most);
    }
    return tree.newestBehind(entry, own, most);
  },
  branchSteps: ({ tree, sessions }, session) => tree.steps(sessions.require(session).leaf),

  fileMarks: ({ entries, transfers }, session) =>
    entries
      .findBySeq(transfers.fileMarks(session))
      .flatMap(({ uuid, seq, parent, content }): FileMark[] =>
        content.type === 'file_changes' && parent !== null ? [{ uuid, seq, on: parent, content }] : [],
      ),

  moveLeaf: {
    run: ({ connection, sessions, entries }, session, leaf) =>
      connection.transaction(() => {
        sessions.require(session);
        if (leaf !== null) entries.requireParent(leaf);
        sessions.setLeaf(session, leaf);
      }),
    tells: (_, session) => ({ kind: 'branch', session }),
  },

  forkSession: {
    run: ({ connection, sessions, entries, pins, tree }, entry, session) =>
      connection.transaction(() => {
        entries.requireParent(entry);
        const parent = sessions.require(entries.find(entry)?.session ?? '');
        const { session: fork, created } = sessions.getOrFork(session, parent, entry);
        if (created) {
          const kept = pins.list(parent.uuid).filter(({ kind, target }) => kind !== 'entry' || tree.isOnBranch(target, entry));
          for (const pin of kept) pins.save({ ...pin, session: fork.uuid });
        }
        return fork;
      }),
    tells: ({ uuid }) => ({ kind: 'session', session: uuid }),
  },
} satisfies Partial<Operations<BranchNeeds>>;
