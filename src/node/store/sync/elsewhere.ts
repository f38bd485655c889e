import * as z from 'zod/mini';
import { leafRegister, type Change, type Stamp } from '../../../core/sync/change';
import type { StandsElsewhere } from '../../../core/sync/syncStore';
import type { Connection } from '../database/connection';
import type { SessionRows } from '../rows/sessionRows';
import type { TreeRows } from '../rows/treeRows';

const Stood = z.object({ values: z.tuple([z.object({ value: z.string(), tick: z.number() })]) });

function placeOf(device: string): string {
  return `elsewhere ${device}`;
}

/** Notes where another device stands in a session, although this one does not go there by itself. It waits for the user. */
export function noteElsewhere(connection: Connection, session: string, leaf: string, { tick, device }: Stamp): void {
  const known = connection.get('SELECT change_json FROM sync_waiting WHERE needs = ? AND session = ?', [placeOf(device), session]);
  if (known && Stood.parse(JSON.parse(String(known['change_json']))).values[0].tick >= tick) return;
  connection.run('DELETE FROM sync_waiting WHERE needs = ? AND session = ?', [placeOf(device), session]);
  connection.run('INSERT INTO sync_waiting(needs, session, device, change_json) VALUES (?, ?, ?, ?)', [
    placeOf(device),
    session,
    device,
    JSON.stringify({ kind: 'registers', session, values: [{ name: leafRegister, value: leaf, tick }] }),
  ]);
}

/** What was noted of the session and is to be merged again. */
export function takeElsewhere(connection: Connection, session: string): { readonly change: Change; readonly device: string }[] {
  const rows = connection.all("SELECT n, device, change_json FROM sync_waiting WHERE session = ? AND needs LIKE 'elsewhere %'", [session]);
  for (const { n } of rows) connection.run('DELETE FROM sync_waiting WHERE n = ?', [n ?? null]);
  return rows.map((row) => ({ device: String(row['device']), change: JSON.parse(String(row['change_json'])) as Change }));
}

interface ElsewhereNeeds {
  readonly connection: Connection;
  readonly sessions: SessionRows;
  readonly tree: TreeRows;
}

/** Where other devices went on in a session, on branches that this one is not on; the last one first. */
export function elsewhere({ connection, sessions, tree }: ElsewhereNeeds, session: string): StandsElsewhere[] {
  const own = sessions.find(session)?.leaf ?? null;
  if (own === null) return [];
  const rows = connection.all("SELECT device, change_json FROM sync_waiting WHERE session = ? AND needs LIKE 'elsewhere %'", [session]);
  return rows
    .flatMap((row): StandsElsewhere[] => {
      const [{ value: leaf, tick }] = Stood.parse(JSON.parse(String(row['change_json']))).values;
      if (tree.sessionOf(leaf) === undefined || tree.isOnBranch(leaf, own)) return [];
      const messages = messagesBetween(connection, leaf, tree.commonAncestor(own, leaf));
      return messages === 0 ? [] : [{ device: String(row['device']), leaf, messages, at: Math.floor(tick / 1024) }];
    })
    .sort((a, b) => b.at - a.at);
}

function messagesBetween(connection: Connection, leaf: string, fork: string | null): number {
  const row = connection.get(
    `WITH RECURSIVE up(uuid, parent, entry_type) AS (
       SELECT uuid, parent, entry_type FROM entries WHERE uuid = ?
       UNION ALL SELECT e.uuid, e.parent, e.entry_type FROM up JOIN entries e ON e.uuid = up.parent WHERE up.parent IS NOT ?
     ) SELECT count(*) AS n FROM up WHERE entry_type = 'message'`,
    [leaf, fork],
  );
  return Number(row?.['n'] ?? 0);
}
