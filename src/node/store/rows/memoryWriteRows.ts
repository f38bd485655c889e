import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { MemoryWrite } from '../../../core/session/appendBatch';
import type { Connection } from '../database/connection';
import { plainText } from '../database/text';

/** The `memory_writes` table. Writes expect to run inside a transaction. */
export class MemoryWriteRows {
  constructor(private readonly connection: Connection) {}

  /** The same write twice is one: a batch may be sent again after a lost answer. Throws `invalid` when the entry does not exist. */
  add(write: MemoryWrite): void {
    if (!this.connection.get('SELECT 1 FROM entries WHERE uuid = ?', [write.entry])) {
      throw new StoreError('invalid', english('There is no entry {0}', write.entry));
    }
    const row = [write.entry, plainText(write.path), write.op, write.bytes, write.at];
    if (this.connection.get('SELECT 1 FROM memory_writes WHERE entry = ? AND path = ? AND op = ? AND bytes = ? AND at = ?', row)) return;
    this.connection.run('INSERT INTO memory_writes(entry, path, op, bytes, at) VALUES (?, ?, ?, ?, ?)', row);
  }

  list(session: string, limit: number): MemoryWrite[] {
    return this.connection
      .all(
        `SELECT w.* FROM memory_writes w CROSS JOIN entries e ON e.uuid = w.entry WHERE e.session = ? ORDER BY w.rowid DESC LIMIT ?`,
        [session, limit],
      )
      .map((row) => ({
        entry: String(row['entry']),
        path: String(row['path']),
        op: String(row['op']),
        bytes: Number(row['bytes']),
        at: Number(row['at']),
      }));
  }
}
