import { markTypes } from '../../../core/session/entryKinds';
import type { Connection } from '../database/connection';
import { TreeRows, type TreeNode } from './treeRows';

/** What becomes of the entries of sessions that are deleted. */
export interface PurgePlan {
  /** UUIDs of the sessions that are there. */
  readonly sessions: readonly string[];
  /** What follows comes before what it follows. */
  readonly gone: readonly TreeNode[];
  /** Entries that stay, by uuid, and the session that they are handed on to. */
  readonly heirs: ReadonlyMap<string, string>;
}

/**
 * An entry stays when one that stays comes after it, or when a session that stays stands on it, was forked from it or has pinned
 * it; a label or checkpoint stays with what it marks. It is handed on to the oldest session that needs it: what came before it is
 * needed by that session too, so the fork lines of the others lead there and not to a session that is no more.
 */
export function planPurge(connection: Connection, wanted: readonly string[]): PurgePlan {
  const tree = new TreeRows(connection);
  const there = new Set(connection.all('SELECT uuid FROM sessions').map((row) => String(row['uuid'])));
  const sessions = [...new Set(wanted)].filter((uuid) => there.has(uuid));
  const doomed = new Set(sessions);
  const nodes = new Map<string, TreeNode>();
  for (const session of sessions) for (const node of tree.own(session)) nodes.set(node.uuid, node);

  const heirs = new Map<string, string>();
  for (const { session, entry } of neededBy(connection, sessions, doomed)) {
    for (let node = nodes.get(entry); node && !heirs.has(node.uuid); node = nodes.get(node.parent ?? '')) heirs.set(node.uuid, session);
  }
  for (const node of nodes.values()) {
    if (heirs.has(node.uuid) || node.parent === null || !markTypes.has(node.type)) continue;
    const heir = nodes.has(node.parent) ? heirs.get(node.parent) : tree.sessionOf(node.parent);
    if (heir !== undefined) heirs.set(node.uuid, heir);
  }
  const gone = [...nodes.values()].filter(({ uuid }) => !heirs.has(uuid)).sort((x, y) => y.seq - x.seq);
  return { sessions, gone, heirs };
}

/** Entries of the doomed sessions that others need, the oldest of those sessions first. */
function neededBy(connection: Connection, sessions: readonly string[], doomed: ReadonlySet<string>): { readonly session: string; readonly entry: string }[] {
  const needs: { session: string; entry: string }[] = [];
  for (const session of sessions) {
    const rows = connection.iterate(
      `SELECT DISTINCT e.session AS session, e.parent AS entry FROM entries p CROSS JOIN entries e ON e.parent = p.uuid
       WHERE p.session = ? AND e.session <> p.session`,
      [session],
    );
    for (const row of rows) needs.push({ session: String(row['session']), entry: String(row['entry']) });
  }
  const others = `SELECT uuid AS session, leaf_entry AS entry FROM sessions WHERE leaf_entry IS NOT NULL
    UNION ALL SELECT uuid, fork_entry FROM sessions WHERE fork_entry IS NOT NULL
    UNION ALL SELECT session, target FROM pins WHERE kind = 'entry'`;
  for (const row of connection.iterate(others)) needs.push({ session: String(row['session']), entry: String(row['entry']) });
  const age = new Map(connection.all('SELECT uuid FROM sessions ORDER BY created_at, rowid').map((row, i) => [String(row['uuid']), i]));
  return needs.filter(({ session }) => !doomed.has(session)).sort((x, y) => (age.get(x.session) ?? 0) - (age.get(y.session) ?? 0));
}
