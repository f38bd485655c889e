import { isObject, textOf } from './formats/jsonShape';
import { entryOfMessage, isUnanswered } from './openClawRecord';

interface Node {
  readonly parent: string | null;
  /** Somebody said something, which what follows answers to. */
  readonly said: boolean;
  readonly unanswered: boolean;
  /** UUID of the entry that it was written from. */
  readonly entry: string | undefined;
}

export type Continuation =
  /** Records that follow `parent` go on where OpenClaw stands. */
  | { readonly type: 'follows'; readonly parent: string | null /** OpenClaw owes an answer there. */; readonly unanswered: boolean }
  /** OpenClaw has gone on without what would be written. */
  | { readonly type: 'parted' };

/** How the records of a transcript hang together, without what they say. */
export class OpenClawTree {
  private readonly nodes = new Map<string, Node>();
  private readonly byEntry = new Map<string, string>();
  private sessionId = '';
  private leaf: string | null = null;

  /** The next record of the file, parsed. */
  add(value: unknown): void {
    if (!isObject(value)) return;
    const id = textOf(value['id']);
    if (value['type'] === 'session' && this.nodes.size === 0) this.sessionId = id ?? '';
    // OpenClaw reads it so: records without an id or a parent stand outside of the tree.
    if (value['type'] === 'session' || id === undefined || !('parentId' in value)) return;
    const target = textOf(value['targetId']) ?? null;
    const isLeaf = value['type'] === 'leaf';
    const message = value['type'] === 'message' && isObject(value['message']) ? value['message'] : null;
    const entry = message ? entryOfMessage(message) : undefined;
    const parentId = textOf(value['parentId']) ?? null;
    this.nodes.set(id, {
      parent: isLeaf ? target : parentId === this.sessionId ? null : parentId,
      said: message !== null || value['type'] === 'custom_message',
      unanswered: message !== null && isUnanswered(message),
      entry,
    });
    if (entry !== undefined) this.byEntry.set(entry, id);
    this.leaf = isLeaf ? target : id;
  }

  has(id: string): boolean {
    return this.nodes.has(id);
  }

  /** The record that was written from an entry. */
  idOf(entry: string): string | undefined {
    return this.byEntry.get(entry);
  }

  /**
   * Where records go that follow `from` here. What OpenClaw notes for itself parts nothing; neither does what was
   * written from here and has been taken back here: the new record then follows `from`, as an edited message does in OpenClaw.
   */
  continuation(from: string): Continuation {
    const between = this.between(from);
    if (!between || between.some(({ said, entry }) => said && entry === undefined)) return { type: 'parted' };
    const isTakenBack = between.some(({ said }) => said);
    return { type: 'follows', parent: isTakenBack ? from : this.leaf, unanswered: this.lastSaid(from)?.unanswered === true };
  }

  /** Goes from the leaf up to, and without, `from`; null when the leaf does not follow from it. */
  private between(from: string): Node[] | null {
    const found: Node[] = [];
    for (const [id, node] of this.upwards(this.leaf)) {
      if (id === from) return found;
      found.push(node);
    }
    return null;
  }

  private lastSaid(from: string): Node | undefined {
    for (const [, node] of this.upwards(from)) if (node.said) return node;
    return undefined;
  }

  private *upwards(from: string | null): Generator<readonly [string, Node], void, void> {
    const seen = new Set<string>();
    for (let id = from; id !== null && !seen.has(id); ) {
      const node = this.nodes.get(id);
      if (!node) return;
      yield [id, node];
      seen.add(id);
      id = node.parent;
    }
  }
}
