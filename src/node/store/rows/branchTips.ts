import { entryText, markTypes } from '../../../core/session/entryKinds';
import type { BranchTip } from '../../../core/branches/branch';
import type { Session } from '../../../core/session/session';
import type { EntryRows } from './entryRows';
import type { TreeNode, TreeRows } from './treeRows';

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

/** Every leaf of the session's own entries, the active one, and for a fork where it began if nothing of it follows there; most recent first. Reads the texts of what it returns only. */
export function branchTips(tree: TreeRows, rows: EntryRows, session: Session): BranchTip[] {
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
