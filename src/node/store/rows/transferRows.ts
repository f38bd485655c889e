import { markTypes } from '../../../core/session/entryKinds';
import type { UsageRecord } from '../../../core/cost/usageRecord';
import type { Connection } from '../database/connection';
import { decodeUsage } from './usageRows';

const sideTypes = [...markTypes].map((type) => `'${type}'`).join(', ');

/** Own entries; where the session or one of its branches goes on from another session's, those up to the root and the marks on them. */
const reached = `
  WITH RECURSIVE shared(uuid) AS (
    SELECT p.uuid FROM entries e JOIN entries p ON p.uuid = e.parent WHERE e.session = ?1 AND p.session <> ?1
    UNION SELECT e.uuid FROM sessions s JOIN entries e ON e.uuid IN (s.leaf_entry, s.fork_entry) WHERE s.uuid = ?1 AND e.session <> ?1
    UNION SELECT e.parent FROM shared JOIN entries e ON e.uuid = shared.uuid WHERE e.parent IS NOT NULL
  ), reached(seq, uuid) AS (
    SELECT seq, uuid FROM entries WHERE session = ?1
    UNION SELECT e.seq, e.uuid FROM shared JOIN entries e ON e.uuid = shared.uuid
    UNION SELECT e.seq, e.uuid FROM shared JOIN entries e ON e.parent = shared.uuid WHERE e.entry_type IN (${sideTypes})
  )`;

/** All that a session consists of, wherever it is shared from. */
export class TransferRows {
  constructor(private readonly connection: Connection) {}

  seqs(session: string): number[] {
    return this.connection.all(`${reached} SELECT seq FROM reached ORDER BY seq`, [session]).map((row) => Number(row['seq']));
  }

  usage(session: string): UsageRecord[] {
    return this.connection
      .all(`${reached} SELECT u.* FROM usage u WHERE u.session = ?1 OR u.entry IN (SELECT uuid FROM reached) ORDER BY u.at, u.entry, u.kind, u.provider, u.model`, [session])
      .map(decodeUsage);
  }

  knownSources(sourceIds: readonly string[]): { readonly sourceId: string; readonly entry: string }[] {
    return this.connection
      .all('SELECT e.source_id, e.uuid FROM json_each(?) wanted CROSS JOIN entries e ON e.source_id = wanted.value', [JSON.stringify(sourceIds)])
      .map((row) => ({ sourceId: String(row['source_id']), entry: String(row['uuid']) }));
  }
}
