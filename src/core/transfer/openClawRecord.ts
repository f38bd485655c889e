import type { StoredEntry } from '../session/entry';
import { entryText } from '../session/entryKinds';
import type { UsageRecord } from '../cost/usage';
import { isObject, textOf, type Json } from './formats/jsonShape';

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
