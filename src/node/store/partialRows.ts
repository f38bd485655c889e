import type { PartialChunk } from '../../core/session/partialChunk';
import { StoreError } from '../../core/errors';
import type { EntryContent, NewEntry } from '../../core/session/entry';
import type { Connection, Row } from './connection';
import { packText, unpackText } from './text';

/**
 * Text that is still streaming: one row per chunk, so that what is written is proportional to what was added. Finishing an
 * entry drops its chunks in the same transaction. Writes expect to run inside one.
 */
export class PartialRows {
  /** A reader cannot tell what was left behind from what the owner is just writing, and recovers nothing. */
  constructor(
    private readonly connection: Connection,
    private readonly access: 'owner' | 'reader',
  ) {}

  /**
   * A chunk that arrives after its entry, or again, is ignored. Throws `invalid` when the session does not exist, `conflict` when
   * the text before the chunk is not there.
   */
  add(chunk: PartialChunk): void {
    if (!this.connection.get('SELECT 1 FROM sessions WHERE uuid = ?', [chunk.session])) {
      throw new StoreError('invalid', `There is no session ${chunk.session}`);
    }
    if (this.connection.get('SELECT 1 FROM entries WHERE uuid = ?', [chunk.entry])) return;
    this.connection.run(
      `INSERT INTO partials(entry, session, parent, kind, provider, model, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT(entry) DO NOTHING`,
      [chunk.entry, chunk.session, chunk.parent, chunk.kind, chunk.provider, chunk.model, chunk.createdAt],
    );
    const text = chunk.offset === undefined ? chunk.text : this.unknownPart(chunk.entry, chunk.offset, chunk.text);
    if (text !== '' || chunk.text === '') this.connection.run('INSERT INTO partial_chunks(entry, text) VALUES (?, ?)', [chunk.entry, packText(text)]);
  }

  /** What is streaming in the session, each block as one chunk with all of its text, oldest first. */
  streaming(session: string): PartialChunk[] {
    return this.rows(session).map((row) => ({
      entry: String(row['entry']),
      session,
      parent: row['parent'] === null ? null : String(row['parent']),
      kind: row['kind'] as PartialChunk['kind'],
      provider: String(row['provider']),
      model: String(row['model']),
      createdAt: Number(row['created_at']),
      text: this.text(String(row['entry'])),
      offset: 0,
    }));
  }

  drop(entry: string): void {
    this.connection.run('DELETE FROM partial_chunks WHERE entry = ?', [entry]);
    this.connection.run('DELETE FROM partials WHERE entry = ?', [entry]);
  }

  /** What no entry has replaced in this session, oldest first, as the entries it would have become. */
  leftBehind(session: string): NewEntry[] {
    if (this.access === 'reader') return [];
    return this.rows(session).map((row) => interruptedEntry(row, this.text(String(row['entry']))));
  }

  private rows(session: string): Row[] {
    return this.connection.all('SELECT * FROM partials WHERE session = ? ORDER BY rowid', [session]);
  }

  private unknownPart(entry: string, offset: number, text: string): string {
    const known = this.text(entry).length;
    if (offset > known) throw new StoreError('conflict', `The text of ${entry} before its character ${offset} is not stored`);
    return text.slice(known - offset);
  }

  private text(entry: string): string {
    const chunks = this.connection.all('SELECT text FROM partial_chunks WHERE entry = ? ORDER BY seq', [entry]);
    return chunks.map((chunk) => unpackText(chunk['text'])).join('');
  }
}

function interruptedEntry(row: Row, text: string): NewEntry {
  const origin = { provider: String(row['provider']), model: String(row['model']), interrupted: 'crashed' } as const;
  const content: EntryContent =
    row['kind'] === 'thinking'
      ? { type: 'thinking', text, ...origin }
      : { type: 'message', role: 'assistant', text, ...origin };
  return {
    uuid: String(row['entry']),
    session: String(row['session']),
    parent: row['parent'] === null ? null : String(row['parent']),
    createdAt: Number(row['created_at']),
    // Thinking without its signature is refused by the provider.
    modelFacing: content.type === 'message',
    display: true,
    tokenEstimate: null,
    content,
  };
}
