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

  stateOf(path: string): NoteState {
    return noteState(
      this.connection
        .all('SELECT revision, parents_json, text, tick FROM sync_notes WHERE path = ? ORDER BY n', [path])
        .map((row) => ({
          id: String(row['revision']),
          parents: JSON.parse(String(row['parents_json'])) as string[],
          text: textOf(row['text']),
          tick: Number(row['tick']),
        })),
    );
  }

  keep({ path, revision, parents, text, tick }: Omit<NoteWritten, 'kind' | 'session'>): void {
    const { connection } = this;
    connection.run('INSERT INTO sync_notes(revision, path, parents_json, text, tick) VALUES (?, ?, ?, ?, ?)', [
      revision,
      path,
      JSON.stringify(parents),
      text === null ? null : packText(text),
      tick,
    ]);
    const state = this.stateOf(path);
    connection.run(
      `INSERT INTO sync_note_files(path, heads_json, digest) VALUES (?, ?, ?)
       ON CONFLICT(path) DO UPDATE SET heads_json = excluded.heads_json, digest = excluded.digest`,
      [path, JSON.stringify(state.heads), digestOf(state.text)],
    );
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
    const tick = queueChange(connection, 'note', revision);
    this.keep({ path, revision, parents, text, tick });
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
