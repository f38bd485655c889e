import { Attachment, type Draft, type QueuedMessage } from '../../../core/session/userMessage';
import { packText, unpackText, type Connection, type Row } from '../database/connection';
import type { Operations } from '../client/storeCalls';
import type { SessionRows } from './sessionRows';

/**
 * What the user has written and not sent (`drafts`), or sent and not had answered (`queue`). Writes expect to run inside a transaction.
 * Attachments that cannot be understood stay in the draft's row, whatever else is written to it.
 */
export class DraftRows {
  constructor(private readonly connection: Connection) {}

  draft(session: string): Draft | undefined {
    const row = this.draftRow(session);
    if (!row) return undefined;
    const { attachments, unreadable } = readAttachments(row);
    return { text: unpackText(row['text']), attachments, at: Number(row['at']), ...(unreadable.length > 0 ? { unreadable: true } : {}) };
  }

  saveDraft(session: string, { text, attachments, at }: Draft): void {
    const row = this.draftRow(session);
    this.write(session, { text, at }, [...attachments, ...(row ? readAttachments(row).unreadable : [])]);
  }

  removeDraft(session: string): void {
    const row = this.draftRow(session);
    const { unreadable } = readAttachments(row ?? {});
    if (unreadable.length > 0) this.write(session, { text: '', at: Number(row?.['at']) }, unreadable);
    else this.connection.run('DELETE FROM drafts WHERE session = ?', [session]);
  }

  queue(session: string): QueuedMessage[] {
    return this.queueRows(session).map((row) => {
      const { attachments } = readAttachments(row);
      return { id: String(row['id']), text: unpackText(row['text']), ...(attachments.length > 0 ? { attachments } : {}) };
    });
  }

  saveQueue(session: string, queue: readonly QueuedMessage[]): void {
    this.keepUnreadable(session);
    this.connection.run('DELETE FROM queue WHERE session = ?', [session]);
    queue.forEach(({ id, text, attachments = [] }, position) =>
      this.connection.run('INSERT INTO queue(session, position, id, text, attachments_json) VALUES (?, ?, ?, ?, ?)', [
        session,
        position,
        id,
        packText(text),
        toJson(attachments),
      ]),
    );
  }

  /** Does nothing when it does not wait. */
  unqueue(session: string, id: string): void {
    const waiting = this.queue(session);
    const others = waiting.filter((message) => message.id !== id);
    if (others.length < waiting.length) this.saveQueue(session, others);
  }

  /** The rows of the queue are about to go: what nobody has been able to read goes to the draft. */
  private keepUnreadable(session: string): void {
    const lost = this.queueRows(session).flatMap((row) => readAttachments(row).unreadable);
    if (lost.length === 0) return;
    const row = this.draftRow(session);
    const { attachments, unreadable } = readAttachments(row ?? {});
    this.write(session, { text: unpackText(row?.['text'] ?? ''), at: Number(row?.['at'] ?? 0) }, [...attachments, ...unreadable, ...lost]);
  }

  private draftRow(session: string): Row | undefined {
    return this.connection.get('SELECT text, attachments_json, at FROM drafts WHERE session = ?', [session]);
  }

  private queueRows(session: string): Row[] {
    return this.connection.all('SELECT id, text, attachments_json FROM queue WHERE session = ? ORDER BY position', [session]);
  }

  private write(session: string, { text, at }: Pick<Draft, 'text' | 'at'>, attachments: readonly unknown[]): void {
    this.connection.run('INSERT OR REPLACE INTO drafts(session, text, attachments_json, at) VALUES (?, ?, ?, ?)', [
      session,
      packText(text),
      toJson(attachments),
      at,
    ]);
  }
}

function toJson(attachments: readonly unknown[]): string | null {
  return attachments.length === 0 ? null : JSON.stringify(attachments);
}

function readAttachments(row: Row): { readonly attachments: Attachment[]; readonly unreadable: readonly unknown[] } {
  const json = row['attachments_json'];
  if (typeof json !== 'string') return { attachments: [], unreadable: [] };
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    parsed = [{ unreadable: json }];
  }
  const attachments: Attachment[] = [];
  const unreadable: unknown[] = [];
  for (const one of Array.isArray(parsed) ? (parsed as unknown[]) : parsed === null ? [] : [parsed]) {
    const attachment = Attachment.safeParse(one);
    if (attachment.success) attachments.push(attachment.data);
    else unreadable.push(one);
  }
  return { attachments, unreadable };
}

export const draftOperations = {
  draft: ({ drafts }, session) => drafts.draft(session),

  saveDraft: {
    run: ({ connection, drafts, sessions }, session, draft) =>
      connection.transaction(() => {
        if (draft === null) return drafts.removeDraft(session);
        sessions.require(session);
        drafts.saveDraft(session, draft);
      }),
    tells: (_, session) => ({ kind: 'draft', session }),
  },

  queue: ({ drafts }, session) => drafts.queue(session),

  saveQueue: ({ connection, drafts, sessions }, session, queue) =>
    connection.transaction(() => {
      if (queue.length > 0) sessions.require(session);
      drafts.saveQueue(session, queue);
    }),
} satisfies Partial<Operations<{ readonly connection: Connection; readonly drafts: DraftRows; readonly sessions: SessionRows }>>;
