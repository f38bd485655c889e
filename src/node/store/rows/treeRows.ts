import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { BranchStep } from '../../../core/branches/branch';
import { markTypes, type EntryType } from '../../../core/session/entry';
import type { Connection, Row } from '../database/connection';

/** An entry's place in the tree, without its content. */
export interface TreeNode {
  readonly seq: number;
  readonly uuid: string;
  readonly parent: string | null;
  readonly type: EntryType;
  readonly role: string | null;
  readonly createdAt: number;
}

const columns = 'e.seq, e.uuid, e.parent, e.entry_type, e.role, e.created_at';
const marks = [...markTypes].map((type) => `'${type}'`).join(', ');

/** The shape of the tree, read without the texts. */
export class TreeRows {
  constructor(private readonly connection: Connection) {}

  /** The session's own entries, oldest first: a parent comes before what follows it. */
  own(session: string): TreeNode[] {
    return this.connection.all(`SELECT ${columns} FROM entries e WHERE e.session = ? ORDER BY e.seq`, [session]).map(decodeNode);
  }

  /** What stands behind each of the parents, of the sessions and entries that count, without marks, oldest first. */
  children(
    parents: readonly string[],
    counts: (child: { readonly uuid: string; readonly session: string }) => boolean,
  ): Map<string | null, string[]> {
    const rows = this.connection.iterate(
      `SELECT e.parent, e.uuid, e.session FROM json_each(?) p CROSS JOIN entries e ON e.parent = p.value
       WHERE e.entry_type NOT IN (${marks}) ORDER BY e.seq`,
      [JSON.stringify(parents)],
    );
    const found = new Map<string | null, string[]>();
    for (const row of rows) {
      const uuid = String(row['uuid']);
      const parent = String(row['parent']);
      if (counts({ uuid, session: String(row['session']) })) found.set(parent, [...(found.get(parent) ?? []), uuid]);
    }
    return found;
  }

  /** The session's own entries that follow none, without marks, oldest first: the first message, and what it was edited to. */
  roots(session: string): TreeNode[] {
    return this.connection
      .all(`SELECT ${columns} FROM entries e WHERE e.session = ? AND e.parent IS NULL AND e.entry_type NOT IN (${marks}) ORDER BY e.seq`, [
        session,
      ])
      .map(decodeNode);
  }

  /** Walks from `uuid` towards the root, read as far as the caller goes. */
  *walkUp(uuid: string): Generator<TreeNode, void, void> {
    const rows = this.connection.iterate(
      `WITH RECURSIVE branch(uuid) AS (
         SELECT ? UNION ALL SELECT e.parent FROM branch JOIN entries e ON e.uuid = branch.uuid WHERE e.parent IS NOT NULL
       )
       SELECT ${columns} FROM branch CROSS JOIN entries e ON e.uuid = branch.uuid`,
      [uuid],
    );
    for (const row of rows) yield decodeNode(row);
  }

  /** The branch that ends with `leaf`, root first, with the checkpoints that hang off it. */
  steps(leaf: string | null): BranchStep[] {
    const rows = this.connection.all(
      `WITH RECURSIVE branch(uuid) AS (
         SELECT ? UNION ALL SELECT e.parent FROM branch JOIN entries e ON e.uuid = branch.uuid WHERE e.parent IS NOT NULL
       ), steps(seq) AS (
         SELECT e.seq FROM branch CROSS JOIN entries e ON e.uuid = branch.uuid
         UNION ALL SELECT e.seq FROM branch CROSS JOIN entries e ON e.parent = branch.uuid AND e.entry_type = 'checkpoint'
       )
       SELECT e.uuid, e.entry_type, e.created_at, e.model_facing, e.token_estimate,
         (SELECT u.input + u.output + u.cache_read + u.cache_write FROM usage u
          WHERE u.entry = e.uuid AND u.kind = 'turn' ORDER BY u.at DESC LIMIT 1) AS measured
       FROM steps CROSS JOIN entries e ON e.seq = steps.seq ORDER BY e.seq`,
      [leaf],
    );
    return rows.map((row) => ({
      entry: String(row['uuid']),
      type: row['entry_type'] as EntryType,
      at: Number(row['created_at']),
      modelFacing: row['model_facing'] === 1,
      tokens: numberOrNull(row['token_estimate']),
      measured: numberOrNull(row['measured']),
    }));
  }

  /** What stands behind an entry up to a leaf, the nearest first; null when the entry is not on the leaf's branch. */
  between(entry: string, leaf: string | null): string[] | null {
    if (leaf === entry) return [];
    const rows = this.connection.all(
      // An entry is stored after the one it follows: what is older than the entry need not be read.
      `WITH RECURSIVE branch(uuid, parent) AS (
         SELECT e.uuid, e.parent FROM entries e WHERE e.uuid = ?
         UNION ALL
         SELECT e.uuid, e.parent FROM branch CROSS JOIN entries e ON e.uuid = branch.parent
         WHERE e.seq > (SELECT seq FROM entries WHERE uuid = ?)
       )
       SELECT uuid, parent FROM branch`,
      [leaf, entry],
    );
    return rows.at(-1)?.['parent'] === entry ? rows.map((row) => String(row['uuid'])).reverse() : null;
  }

  /** The newest of the session's own entries that stands behind an entry, the newest behind that, and so on. */
  newestBehind(entry: string, session: string, most: number): string[] {
    const found: string[] = [];
    for (let at: string | undefined = entry; found.length < most; found.push(at)) {
      at = this.children([at], (child) => child.session === session)
        .get(at)
        ?.at(-1);
      if (at === undefined) break;
    }
    return found;
  }

  /** Reads no further than the answer; null when the branches share nothing. Throws `invalid` when there is no such entry. */
  commonAncestor(a: string, b: string): string | null {
    let [left, right] = [this.require(a), this.require(b)];
    while (left.uuid !== right.uuid) {
      // An entry is stored after the one it follows, so the later one of the two is not above the other.
      const later: TreeNode = left.seq > right.seq ? left : right;
      if (later.parent === null) return null;
      const parent = this.require(later.parent);
      if (later === left) left = parent;
      else right = parent;
    }
    return left.uuid;
  }

  /** False also when one of the two is not there. */
  isOnBranch(entry: string, leaf: string | null): boolean {
    return leaf !== null && this.find(leaf) !== undefined && this.find(entry) !== undefined && this.commonAncestor(entry, leaf) === entry;
  }

  sessionOf(uuid: string): string | undefined {
    const row = this.connection.get('SELECT session FROM entries WHERE uuid = ?', [uuid]);
    return row && String(row['session']);
  }

  private find(uuid: string): TreeNode | undefined {
    const row = this.connection.get(`SELECT ${columns} FROM entries e WHERE e.uuid = ?`, [uuid]);
    return row && decodeNode(row);
  }

  private require(uuid: string): TreeNode {
    const node = this.find(uuid);
    if (!node) throw new StoreError('invalid', english('There is no entry {0}', uuid));
    return node;
  }
}

function numberOrNull(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

function decodeNode(row: Row): TreeNode {
  return {
    seq: Number(row['seq']),
    uuid: String(row['uuid']),
    parent: row['parent'] === null ? null : String(row['parent']),
    type: row['entry_type'] as EntryType,
    role: row['role'] === null ? null : String(row['role']),
    createdAt: Number(row['created_at']),
  };
}
