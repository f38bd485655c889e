import type { PartialChunk } from '../../../core/session/storage';
import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { EntryContent, NewEntry } from '../../../core/session/entry';
import { packText, unpackText, type Connection, type Row } from '../database/connection';
import type { Operations } from '../client/storeCalls';

/**
 * Text that is still streaming: one row per chunk, so that what is written is proportional to what was added. Finishing an
 * entry drops its chunks in the same transaction. Writes expect to run inside one.
 */
export class PartialRows {
  /**
   * Each entry that streams has its length up to the last chunk that was read; that one is read again, since its transaction may have been
   * undone.
   */
  private readonly lengths = new Map<string, { readonly seq: number; readonly last: string; readonly length: number }>();

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
      throw new StoreError('invalid', english('There is no session {0}', chunk.session));
    }
    if (this.connection.get('SELECT 1 FROM entries WHERE uuid = ?', [chunk.entry])) return;
    this.connection.run(
      `INSERT INTO partials(entry, session, parent, kind, provider, model, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT(entry) DO NOTHING`,
      [chunk.entry, chunk.session, chunk.parent, chunk.kind, chunk.provider, chunk.model, chunk.createdAt],
    );
    const text = chunk.offset === undefined ? chunk.text : this.unknownPart(chunk.entry, chunk.offset, chunk.text);
    if (text !== '' || chunk.text === '')
      this.connection.run('INSERT INTO partial_chunks(entry, text) VALUES (?, ?)', [chunk.entry, packText(text)]);
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

  drop(entries: readonly string[]): void {
    for (const entry of entries) this.lengths.delete(entry);
    const wanted = [JSON.stringify(entries)];
    this.connection.run('DELETE FROM partial_chunks WHERE entry IN (SELECT value FROM json_each(?))', wanted);
    this.connection.run('DELETE FROM partials WHERE entry IN (SELECT value FROM json_each(?))', wanted);
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
    const known = this.lengthOf(entry);
    if (offset > known) throw new StoreError('conflict', english('The text of {0} before its character {1} is not stored', entry, offset));
    return text.slice(known - offset);
  }

  /** It does not read all of it again with every chunk. */
  private lengthOf(entry: string): number {
    const before = this.lengths.get(entry);
    const rows = this.chunks(entry, before?.seq ?? 0);
    if (before && rows[0]?.text !== before.last) {
      this.lengths.delete(entry);
      return this.lengthOf(entry);
    }
    const length = (before ? before.length - before.last.length : 0) + rows.reduce((sum, { text }) => sum + text.length, 0);
    const last = rows.at(-1);
    if (last) this.lengths.set(entry, { seq: last.seq, last: last.text, length });
    return length;
  }

  private chunks(entry: string, from: number): { readonly seq: number; readonly text: string }[] {
    const rows = this.connection.all('SELECT seq, text FROM partial_chunks WHERE entry = ? AND seq >= ? ORDER BY seq', [entry, from]);
    return rows.map((row) => ({ seq: Number(row['seq']), text: unpackText(row['text']) }));
  }

  private text(entry: string): string {
    return this.chunks(entry, 0)
      .map(({ text }) => text)
      .join('');
  }
}

function interruptedEntry(row: Row, text: string): NewEntry {
  const origin = { provider: String(row['provider']), model: String(row['model']), interrupted: 'crashed' } as const;
  const content: EntryContent =
    row['kind'] === 'thinking' ? { type: 'thinking', text, ...origin } : { type: 'message', role: 'assistant', text, ...origin };
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

export const partialOperations = {
  writePartial: {
    run: ({ connection, partials }, chunk) => connection.transaction(() => partials.add(chunk)),
    tells: (_, chunk) => ({ kind: 'partial', session: chunk.session, chunk }),
  },
} satisfies Partial<Operations<{ readonly connection: Connection; readonly partials: PartialRows }>>;
