import { StoreError } from '../../../core/errors';
import { english } from '../../../core/l10n';
import type { SummaryRetry } from '../../../core/maintenance/summaryRetry';
import type { Connection } from '../database/connection';

/** The `retry_queue` table. Writes expect to run inside a transaction. */
export class SummaryRetryRows {
  constructor(private readonly connection: Connection) {}

  /** A session in the trash costs nothing: its retries wait until it is restored. */
  list(session?: string): SummaryRetry[] {
    const where = session === undefined ? 's.deleted_at IS NULL' : 's.uuid = ?';
    return this.connection
      .all(
        `SELECT r.compaction, r.next_at, r.attempts, e.session FROM retry_queue r
         JOIN entries e ON e.uuid = r.compaction JOIN sessions s ON s.uuid = e.session WHERE ${where} ORDER BY r.next_at, e.seq`,
        session === undefined ? [] : [session],
      )
      .map((row) => ({
        compaction: String(row['compaction']),
        session: String(row['session']),
        nextAt: Number(row['next_at']),
        attempts: Number(row['attempts']),
      }));
  }

  save({ compaction, nextAt, attempts }: Omit<SummaryRetry, 'session'>): void {
    const entry = this.connection.get("SELECT 1 FROM entries WHERE uuid = ? AND entry_type = 'compaction'", [compaction]);
    if (!entry) throw new StoreError('invalid', english('There is no compaction {0}', compaction));
    this.connection.run('INSERT OR REPLACE INTO retry_queue(compaction, next_at, attempts) VALUES (?, ?, ?)', [compaction, nextAt, attempts]);
  }

  remove(compaction: string): void {
    this.connection.run('DELETE FROM retry_queue WHERE compaction = ?', [compaction]);
  }
}
