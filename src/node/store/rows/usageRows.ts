import { cacheMs } from '../../../core/cost/promptCache';
import type { ReturnRow } from '../../../core/cost/returns';
import { mostRequests, type PastRequest, type UsageQuery, type UsageRecord, type UsageTotal } from '../../../core/cost/usage';
import type { StoredEntry } from '../../../core/session/entry';
import type { Connection, Row, SqlValue } from '../database/connection';
import type { Operations } from '../client/storeCalls';

/** It stands at the end of a row's kind. No version before knows such kinds, so none takes an estimate for a measurement. */
const estimatedMark = '_estimated';

/** The `usage` table: what each request to a provider was billed. */
export class UsageRows {
  constructor(private readonly connection: Connection) {}

  /**
   * The same record twice is one request: a batch may be sent again after a lost answer. What a purge has left under no session's name
   * belongs to the session again with which it comes back.
   */
  add(session: string, record: UsageRecord): void {
    this.connection.run(
      `INSERT OR IGNORE INTO usage(session, entry, provider, model, kind, input, output, cache_read, cache_write, cache_write_hour, cost, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT(entry, kind, at, provider, model) DO UPDATE SET session = excluded.session WHERE usage.session = ''`,
      [
        session,
        record.entry,
        record.provider,
        record.model,
        record.estimated ? `${record.kind}${estimatedMark}` : record.kind,
        record.input,
        record.output,
        record.cacheRead,
        record.cacheWrite,
        record.cacheWriteHour ?? 0,
        record.cost,
        record.at,
      ],
    );
  }

  totals({ session, from, to, own }: UsageQuery): UsageTotal[] {
    const rows = this.connection.all(
      `SELECT provider, model, count(*) AS requests, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cache_read,
         sum(cache_write) AS cache_write, sum(cost) AS cost,
         sum(cost IS NULL AND kind <> 'count') AS without_cost, sum(kind LIKE '%${estimatedMark}') AS estimated
       FROM usage WHERE ${session === undefined ? '' : 'session = ? AND'} at >= ? AND at <= ?
         ${own ? `AND kind NOT LIKE 'imported%'` : ''}
       GROUP BY provider, model ORDER BY cost DESC, provider, model`,
      [...(session === undefined ? [] : [session]), from ?? 0, to ?? Number.MAX_SAFE_INTEGER],
    );
    return rows.map((row) => ({
      provider: String(row['provider']),
      model: String(row['model']),
      requests: Number(row['requests']),
      input: Number(row['input']),
      output: Number(row['output']),
      cacheRead: Number(row['cache_read']),
      cacheWrite: Number(row['cache_write']),
      cost: row['cost'] === null ? null : Number(row['cost']),
      requestsWithoutCost: Number(row['without_cost']),
      requestsEstimated: Number(row['estimated']),
    }));
  }

  /** The newest requests of turns in any session, oldest first. */
  past(limit: number): PastRequest[] {
    const rows = this.connection.all(
      `SELECT session, at, input + cache_read + cache_write AS prompt FROM usage WHERE kind = 'turn' ORDER BY at DESC LIMIT ?`,
      [limit],
    );
    return rows.map((row) => ({ session: String(row['session']), at: Number(row['at']), prompt: Number(row['prompt']) })).reverse();
  }

  returns(session: string): ReturnRow[] {
    return returnRows(this.connection, 'session = ?', [session]);
  }

  /** The newest usage that measured a prompt up to one of the entries, which may come from several sessions. */
  lastMeasurement(entries: readonly StoredEntry[]): UsageRecord | null {
    // It asks by entry, not by session: a session that was compacted just now may have thousands of measurements, none of them of these.
    const row = this.connection.get(
      `SELECT u.* FROM json_each(?) AS wanted CROSS JOIN usage u ON u.entry = wanted.value AND u.kind IN ('turn', 'count')
       ORDER BY u.at DESC, u.rowid DESC LIMIT 1`,
      [JSON.stringify(entries.map((entry) => entry.uuid))],
    );
    return row ? decodeUsage(row) : null;
  }

  /** Returns the newest turns and summaries of each model that led to one of the entries, as they were recorded, oldest first. */
  lastRequests(entries: readonly StoredEntry[]): UsageRecord[] {
    const rows = this.connection.all(
      `SELECT * FROM (SELECT u.*, u.rowid AS place,
           row_number() OVER (PARTITION BY u.provider, u.model, u.kind LIKE 'compaction%' ORDER BY u.rowid DESC) AS nth
         FROM json_each(?) AS wanted CROSS JOIN usage u ON u.entry = wanted.value
           AND u.kind IN ('turn', 'failed', 'failed_estimated', 'compaction', 'compaction_estimated'))
       WHERE nth <= ${mostRequests} ORDER BY place`,
      [JSON.stringify(entries.map((entry) => entry.uuid))],
    );
    return rows.map(decodeUsage);
  }
}

export function decodeUsage(row: Row): UsageRecord {
  return {
    entry: String(row['entry']),
    provider: String(row['provider']),
    model: String(row['model']),
    ...decodeKind(row['kind']),
    input: Number(row['input']),
    output: Number(row['output']),
    cacheRead: Number(row['cache_read']),
    cacheWrite: Number(row['cache_write']),
    // A file of an older version, which a reader leaves as it is, does not have it.
    ...(row['cache_write_hour'] ? { cacheWriteHour: Number(row['cache_write_hour']) } : {}),
    cost: row['cost'] === null ? null : Number(row['cost']),
    at: Number(row['at']),
  };
}

export function decodeKind(kind: unknown): Pick<UsageRecord, 'kind' | 'estimated'> {
  const text = String(kind);
  return text.endsWith(estimatedMark)
    ? { kind: text.slice(0, -estimatedMark.length) as UsageRecord['kind'], estimated: true }
    : { kind: text as UsageRecord['kind'] };
}

/**
 * First requests after a pause, by what was billed: the provider had nearly nothing left of the prompt before, and no time is too short for
 * that. `which` and its values choose sessions, the range the requests.
 */
export function returnRows(
  connection: Connection,
  which: string,
  values: readonly SqlValue[],
  [from, to]: readonly SqlValue[] = [0, Number.MAX_SAFE_INTEGER],
): ReturnRow[] {
  // A file of an older version, which a reader leaves as it is, does not have it.
  const hour = connection.get(`SELECT 1 FROM pragma_table_info('usage') WHERE name = 'cache_write_hour'`) ? 'cache_write_hour' : '0';
  const rows = connection.all(
    `SELECT r.*, (SELECT e.uuid FROM entries e JOIN compactions c ON c.entry = e.seq
         WHERE e.session = r.session AND c.trigger = 'cold' AND e.created_at > r.before_at AND e.created_at <= r.at
         ORDER BY e.seq DESC LIMIT 1) AS folded
     FROM (SELECT session, at, provider, model, input, cache_read, cache_write, ${hour} AS cache_write_hour,
         lag(at) OVER asked AS before_at, lag(input + cache_read + cache_write + output) OVER asked AS before
       FROM usage WHERE kind = 'turn' AND ${which} WINDOW asked AS (PARTITION BY session, provider, model ORDER BY at, rowid)) r
     WHERE r.at >= ? AND r.at <= ? AND r.at - r.before_at >= ${cacheMs['5m']} AND r.cache_write > 0 AND r.cache_read * 2 < r.before
     ORDER BY r.at`,
    [...values, from ?? 0, to ?? Number.MAX_SAFE_INTEGER],
  );
  return rows.map((row) => ({
    session: String(row['session']),
    at: Number(row['at']),
    provider: String(row['provider']),
    model: String(row['model']),
    input: Number(row['input']),
    cacheRead: Number(row['cache_read']),
    cacheWrite: Number(row['cache_write']),
    cacheWriteHour: Number(row['cache_write_hour']),
    before: Number(row['before']),
    folded: row['folded'] === null ? null : String(row['folded']),
  }));
}

export const usageOperations = {
  usageTotals: ({ usage }, query) => usage.totals(query),
  pastRequests: ({ usage }, limit) => usage.past(limit),
  returns: ({ usage }, session) => usage.returns(session),
} satisfies Partial<Operations<{ readonly usage: UsageRows }>>;
