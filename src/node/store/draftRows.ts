import type { Draft } from '../../core/ports';
import type { Connection } from './connection';
import { packText, unpackText } from './text';

/** What the user has written and not sent (`drafts`), or sent and not had answered (`queue`). Writes expect to run inside a transaction. */
export class DraftRows {
  constructor(private readonly connection: Connection) {}

  draft(session: string): Draft | undefined {
    const row = this.connection.get('SELECT text, attachments_json, at FROM drafts WHERE session = ?', [session]);
    if (!row) return undefined;
    const attachments: unknown = typeof row['attachments_json'] === 'string' ? JSON.parse(row['attachments_json']) : undefined;
    return { text: unpackText(row['text']), attachments, at: Number(row['at']) };
  }

  saveDraft(session: string, draft: Draft): void {
    const attachments = draft.attachments === undefined ? null : JSON.stringify(draft.attachments);
    this.connection.run('INSERT OR REPLACE INTO drafts(session, text, attachments_json, at) VALUES (?, ?, ?, ?)', [
      session,
      packText(draft.text),
      attachments,
      draft.at,
    ]);
  }

  removeDraft(session: string): void {
    this.connection.run('DELETE FROM drafts WHERE session = ?', [session]);
  }

  queue(session: string): { readonly id: string; readonly text: string }[] {
    return this.connection
      .all('SELECT id, text FROM queue WHERE session = ? ORDER BY position', [session])
      .map((row) => ({ id: String(row['id']), text: unpackText(row['text']) }));
  }

  saveQueue(session: string, queue: readonly { readonly id: string; readonly text: string }[]): void {
    this.connection.run('DELETE FROM queue WHERE session = ?', [session]);
    queue.forEach(({ id, text }, position) =>
      this.connection.run('INSERT INTO queue(session, position, id, text) VALUES (?, ?, ?, ?)', [session, position, id, packText(text)]),
    );
  }
}
