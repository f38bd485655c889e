import type { AnalyticsQuery, AnalyticsRows, UsageRow } from '../../../core/analytics/rows';
import { unpackText, type Connection, type Row, type SqlValue } from '../database/connection';
import { decodeKind, returnRows } from './usageRows';
import type { Operations } from '../client/storeCalls';

const quarter = 15 * 60 * 1000;
const notTrashed = 'session IN (SELECT uuid FROM sessions WHERE deleted_at IS NULL)';

/** Sums over the history for analytics; texts are not read. Costs one pass over the rows of all entries. */
export function analyticsRows(connection: Connection, { from, to }: AnalyticsQuery): AnalyticsRows {
  const range: readonly SqlValue[] = [from, to];
  return {
    sessions: connection
      .all(
        `SELECT uuid, id, title, cwd, created_at, CASE WHEN json_valid(metadata) THEN metadata ELSE '{}' END AS metadata FROM sessions
         WHERE deleted_at IS NULL AND ((created_at >= ? AND created_at <= ?)
           OR uuid IN (SELECT session FROM entries WHERE created_at >= ? AND created_at <= ?)
           OR uuid IN (SELECT session FROM usage WHERE at >= ? AND at <= ?))
         ORDER BY created_at, rowid`,
        [...range, ...range, ...range],
      )
      .map((row) => ({
        uuid: String(row['uuid']),
        id: String(row['id']),
        title: unpackText(row['title']),
        cwd: row['cwd'] === null ? null : String(row['cwd']),
        createdAt: Number(row['created_at']),
        tags: tagsOf(row),
      })),
    entries: connection
      .all(
        `SELECT session, created_at / ${quarter} AS slot, sum(entry_type = 'message') AS messages, sum(coalesce(token_estimate, 0)) AS tokens
         FROM entries WHERE created_at >= ? AND created_at <= ? AND ${notTrashed} GROUP BY session, slot`,
        range,
      )
      .map((row) => ({
        session: String(row['session']),
        at: Number(row['slot']) * quarter,
        messages: Number(row['messages']),
        tokens: Number(row['tokens']),
      })),
    // A `count` measures, it is not billed.
    usage: connection
      .all(
        `SELECT session, at / ${quarter} AS slot, provider, model, kind, count(*) AS requests, sum(input) AS input, sum(output) AS output,
           sum(cache_read) AS cache_read, sum(cache_write) AS cache_write, sum(coalesce(cost, 0)) AS cost, sum(cost IS NULL) AS unpriced
         FROM usage WHERE at >= ? AND at <= ? AND kind <> 'count' AND ${notTrashed} GROUP BY session, slot, provider, model, kind`,
        range,
      )
      .map((row) => ({
        session: String(row['session']),
        at: Number(row['slot']) * quarter,
        provider: String(row['provider']),
        model: String(row['model']),
        kind: decodeKind(row['kind']).kind as UsageRow['kind'],
        requests: Number(row['requests']),
        requestsEstimated: decodeKind(row['kind']).estimated ? Number(row['requests']) : 0,
        input: Number(row['input']),
        output: Number(row['output']),
        cacheRead: Number(row['cache_read']),
        cacheWrite: Number(row['cache_write']),
        cost: Number(row['cost']),
        requestsWithoutCost: Number(row['unpriced']),
      })),
    compactions: connection
      .all(
        `SELECT e.session AS session, e.created_at AS at, c.tokens_before, c.tokens_after, c.rung, c.model, c.duration_ms, c.held_ms,
           c.supersedes IS NOT NULL AS replaces,
           e.uuid IN (SELECT json_extract(b.content_json, '$.target') FROM entries u JOIN bodies b ON b.entry = u.seq WHERE u.entry_type = 'compaction_undone') AS undone
         FROM compactions c JOIN entries e ON e.seq = c.entry WHERE e.created_at >= ? AND e.created_at <= ? AND e.${notTrashed} ORDER BY e.seq`,
        range,
      )
      .map((row) => ({
        session: String(row['session']),
        at: Number(row['at']),
        tokensBefore: Number(row['tokens_before']),
        tokensAfter: Number(row['tokens_after']),
        rung: String(row['rung']),
        model: row['model'] === null ? null : String(row['model']),
        durationMs: Number(row['duration_ms']),
        heldMs: Number(row['held_ms']),
        undone: row['undone'] === 1,
        replaces: row['replaces'] === 1,
      })),
    nudges: connection
      .all(
        `SELECT e.session AS session, e.created_at AS at, json_extract(b.content_json, '$.percent') AS percent,
           EXISTS (SELECT 1 FROM memory_writes w JOIN entries m ON m.uuid = w.entry WHERE m.session = e.session AND m.seq > e.seq
             AND m.seq < coalesce((SELECT min(c.entry) FROM compactions c JOIN entries k ON k.seq = c.entry WHERE k.session = e.session AND c.entry > e.seq), 9e15)) AS acted
         FROM entries e JOIN bodies b ON b.entry = e.seq
         WHERE e.entry_type = 'nudge' AND e.created_at >= ? AND e.created_at <= ? AND e.${notTrashed} ORDER BY e.seq`,
        range,
      )
      .map((row) => ({
        session: String(row['session']),
        at: Number(row['at']),
        percent: Number(row['percent']),
        acted: row['acted'] === 1,
      })),
    returns: returnRows(connection, `session IN (SELECT session FROM usage WHERE at >= ? AND at <= ?) AND ${notTrashed}`, range, range),
  };
}

function tagsOf(row: Row): string[] {
  const { tags } = JSON.parse(String(row['metadata'])) as { tags?: unknown };
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string' && tag !== '') : [];
}

export const analyticsOperations = { analyticsRows: ({ connection }, query) => analyticsRows(connection, query) } satisfies Partial<
  Operations<{ readonly connection: Connection }>
>;
