import { createHash, randomUUID } from 'node:crypto';
import type { NoteWritten } from '../../../core/sync/change';
import { noteState, type NoteState } from '../../../core/sync/noteRevisions';
import type { SyncedNote } from '../../../core/sync/syncStore';
import { packText, unpackText, type Connection } from '../database/connection';
import { queueChange } from './outbox';

/** The `sync_note…` tables. Writes expect to run inside a transaction. */
export class NoteRows {
  constructor(private readonly connection: Connection) {}

  list(): SyncedNote[] {
    return this.connection
      .all("SELECT path, digest, file_digest, next_digest FROM sync_note_files WHERE digest <> file_digest OR digest <> '' ORDER BY path")
      .map((row) => ({
        path: String(row['path']),
        digest: String(row['digest']),
        fileDigest: String(row['file_digest']),
        nextDigest: row['next_digest'] === null ? null : String(row['next_digest']),
      }));
  }

  has(revision: string): boolean {
    return this.connection.get('SELECT 1 FROM sync_notes WHERE revision = ?', [revision]) !== undefined;
  }

  find(revision: string): NoteWritten | undefined {
    const row = this.connection.get('SELECT * FROM sync_notes WHERE revision = ?', [revision]);
    if (!row) return undefined;
    const parents = JSON.parse(String(row['parents_json'])) as string[];
    return {
      kind: 'note',
      session: '',
      path: String(row['path']),
      revision,
      parents,
      text: textOf(row['text']),
      tick: Number(row['tick']),
    };
  }

  /** Where one revision comes from all others, it is what they come to. Else texts are read of those that are merged. */
  stateOf(path: string): NoteState {
    const [head, ...others] = this.headsOf(path) ?? [];
    const only = head === undefined || others.length > 0 ? undefined : this.find(head);
    if (only) return { heads: [only.revision], text: only.text, both: 0 };
    return noteState(
      this.connection.all('SELECT revision, parents_json, tick FROM sync_notes WHERE path = ? ORDER BY n', [path]).map((row) => {
        const id = String(row['revision']);
        const read = () => this.find(id)?.text ?? null;
        return {
          id,
          parents: JSON.parse(String(row['parents_json'])) as string[],
          tick: Number(row['tick']),
          get text() {
            return read();
          },
        };
      }),
    );
  }

  private headsOf(path: string): readonly string[] | undefined {
    const row = this.connection.get('SELECT heads_json FROM sync_note_files WHERE path = ?', [path]);
    return row && (JSON.parse(String(row['heads_json'])) as string[]);
  }

  /** What the note comes to is said by `settle`, once for all revisions that come together. */
  keep({ path, revision, parents, text, tick }: Omit<NoteWritten, 'kind' | 'session'>): void {
    const { connection } = this;
    const before = this.headsOf(path);
    connection.run('INSERT INTO sync_notes(revision, path, parents_json, text, tick) VALUES (?, ?, ?, ?, ?)', [
      revision,
      path,
      JSON.stringify(parents),
      text === null ? null : packText(text),
      tick,
    ]);
    const heads = before ? [...before.filter((head) => !parents.includes(head)), revision] : this.stateOf(path).heads;
    connection.run(
      `INSERT INTO sync_note_files(path, heads_json, digest) VALUES (?, ?, '')
       ON CONFLICT(path) DO UPDATE SET heads_json = excluded.heads_json`,
      [path, JSON.stringify(heads)],
    );
  }

  settle(path: string): void {
    const { heads, text } = this.stateOf(path);
    this.connection.run('UPDATE sync_note_files SET heads_json = ?, digest = ? WHERE path = ?', [
      JSON.stringify(heads),
      digestOf(text),
      path,
    ]);
  }

  /** The file was found with another text; it was made from what the file had before. */
  write(path: string, text: string | null): void {
    const { connection } = this;
    const digest = digestOf(text);
    const row = connection.get('SELECT * FROM sync_note_files WHERE path = ?', [path]);
    // What a write that was interrupted has left, or somebody has come to by themselves.
    if (row?.['digest'] === digest) return this.fileHas(path, digest, 'written');
    const isNext = row !== undefined && row['next_digest'] === digest;
    if (isNext) {
      connection.run('UPDATE sync_note_files SET file_heads_json = next_heads_json, file_digest = next_digest WHERE path = ?', [path]);
      return;
    }
    const revision = randomUUID();
    const parents = row === undefined ? [] : (JSON.parse(String(row['file_heads_json'])) as string[]);
    const tick = queueChange(connection, 'note', '', revision);
    this.keep({ path, revision, parents, text, tick });
    this.settle(path);
    connection.run(
      'UPDATE sync_note_files SET file_heads_json = ?, file_digest = ?, next_heads_json = NULL, next_digest = NULL WHERE path = ?',
      [JSON.stringify([revision]), digest, path],
    );
  }

  fileHas(path: string, digest: string, state: 'next' | 'written' | 'gone'): void {
    const { connection } = this;
    if (state === 'gone')
      connection.run(
        `UPDATE sync_note_files SET file_heads_json = '[]', file_digest = '', next_heads_json = NULL, next_digest = NULL WHERE path = ?`,
        [path],
      );
    else if (state === 'next')
      connection.run('UPDATE sync_note_files SET next_heads_json = heads_json, next_digest = digest WHERE path = ? AND digest = ?', [
        path,
        digest,
      ]);
    else
      connection.run(
        `UPDATE sync_note_files SET file_heads_json = heads_json, file_digest = digest, next_heads_json = NULL, next_digest = NULL
         WHERE path = ? AND digest = ?`,
        [path, digest],
      );
  }
}

/** As `SyncedNote` has it. */
export function digestOf(text: string | null): string {
  return text === null ? '' : createHash('sha256').update(text).digest('hex');
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : unpackText(value);
}
