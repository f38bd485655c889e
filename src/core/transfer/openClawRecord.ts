import { entryText, type StoredEntry } from '../session/entry';
import type { UsageRecord } from '../cost/usage';
import { isObject, type Json } from '../base/json';
import { textOf } from './formats/foreignJson';

/**
 * OpenClaw has a field by which writers know their own messages again (`idempotencyKey`), and keeps it when it rewrites a session. Ours
 * names the entry, so that what was appended need not be remembered here: the file says it.
 */
const ours = 'threadkeeper:';
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** UUID of the entry that a message of a transcript was written from; undefined for a message of OpenClaw's. */
export function entryOfMessage(message: Json): string | undefined {
  const key = textOf(message['idempotencyKey']);
  const entry = key?.startsWith(ours) ? key.slice(ours.length) : undefined;
  return entry !== undefined && uuid.test(entry) ? entry : undefined;
}

/** Whether the entry is something that was said here, and goes to OpenClaw: calls and their results are this program's own business. */
export function isForOpenClaw({ content, modelFacing, display, sourceId }: StoredEntry): boolean {
  return content.type === 'message' && modelFacing && display && typeof sourceId !== 'string' && entryText(content).trim() !== '';
}

/** Eight digits, as OpenClaw's ids have them; the whole uuid where these are taken. The end of a UUID v7 is its random part. */
export function recordIdFor(entry: string, isTaken: (id: string) => boolean): string {
  const short = entry.replaceAll('-', '').slice(-8);
  return isTaken(short) ? entry : short;
}

/** A line of a transcript without its end. Images are named, not sent along. */
export function openClawRecord(
  entry: StoredEntry,
  place: { readonly id: string; readonly parentId: string | null },
  usage: UsageRecord | undefined,
): string {
  const { content, createdAt, uuid: of } = entry;
  if (content.type !== 'message') throw new Error(`An entry of type ${content.type} is no message.`);
  const blocks = [{ type: 'text', text: entryText(content) }];
  const common = { timestamp: createdAt, idempotencyKey: `${ours}${of}` };
  const message =
    content.role === 'user'
      ? { role: 'user', content: blocks, ...common }
      : {
          role: 'assistant',
          content: blocks,
          // OpenClaw's readers take these for granted in an answer.
          api: 'anthropic-messages',
          provider: content.provider ?? 'threadkeeper',
          model: content.model ?? 'unknown',
          usage: usageOf(usage),
          stopReason: content.interrupted === undefined ? 'stop' : 'aborted',
          ...common,
        };
  return JSON.stringify({ type: 'message', ...place, timestamp: new Date(createdAt).toISOString(), message });
}

function usageOf(usage: UsageRecord | undefined): Json {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost = null } = usage ?? {};
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost ?? 0 },
  };
}

/** Whether a record waits for OpenClaw to go on: a question, a result, an answer that ends in calls. */
export function isUnanswered(message: Json): boolean {
  if (entryOfMessage(message) !== undefined) return false;
  if (message['role'] !== 'assistant') return message['role'] === 'user' || message['role'] === 'toolResult';
  const content: unknown = message['content'];
  return (
    message['stopReason'] === 'toolUse' ||
    (message['stopReason'] === undefined &&
      Array.isArray(content) &&
      content.some((block: unknown) => isObject(block) && block['type'] === 'toolCall'))
  );
}

interface Node {
  readonly parent: string | null;
  /** Somebody said something, which what follows answers to. */
  readonly said: boolean;
  readonly unanswered: boolean;
  /** UUID of the entry that it was written from. */
  readonly entry: string | undefined;
}

type Continuation =
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
