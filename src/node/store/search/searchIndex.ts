import { IndexTerms, matchExpression } from '../../../core/recall/indexTerms';
import { type CorpusStatistics, inverseFrequency, saturation } from '../../../core/recall/rankPassages';
import type { Connection } from '../database/connection';
import { entrySelection } from '../rows/entryCodec';
import type { EntryRows } from '../rows/entryRows';
import type { SearchScope, SqlCondition } from './searchScope';

export interface Candidate {
  readonly seq: number;
  readonly score: number;
}

export interface Candidates extends CorpusStatistics {
  /** Best first. */
  readonly found: readonly Candidate[];
  /** False where even the rarest term is in so many entries that not all of them were scored: what is found differs by little. */
  readonly whole: boolean;
}

/** Entries read per batch at most; the time budget usually ends it before. */
const batchEntries = 200;
const highWaterKey = 'fts_indexed';

/** The full-text index over entries. It follows the entries at its own pace: what is above `indexedThrough` has to be scanned. */
export class SearchIndex {
  private readonly terms = new IndexTerms();
  /** It is true of the index up to `through`. */
  private counted = { through: 0, count: 0, averageLength: 1, frequencies: new Map<string, number>() };

  constructor(
    private readonly connection: Connection,
    private readonly entries: Pick<EntryRows, 'decode'>,
  ) {}

  /** The highest `seq` that the index covers; 0 for a database that has no index. */
  get indexedThrough(): number {
    return Number(this.connection.get('SELECT value FROM meta WHERE key = ?', [highWaterKey])?.['value'] ?? 0);
  }

  get pending(): number {
    return Number(this.connection.get('SELECT max(seq) AS last FROM entries')?.['last'] ?? 0) - this.indexedThrough;
  }

  /**
   * Indexes the oldest entries that are not indexed yet, for about `budgetMs` and at least one. One transaction: a kill loses
   * the batch and nothing else. Returns whether there may be more.
   */
  indexBatch(budgetMs: number): boolean {
    return this.connection.transaction(() => {
      const started = performance.now();
      let last = this.indexedThrough;
      let read = 0;
      const rows = this.connection.iterate(
        `SELECT ${entrySelection} FROM entries e JOIN bodies b ON b.entry = e.seq WHERE e.seq > ? ORDER BY e.seq LIMIT ${batchEntries}`,
        [last],
      );
      for (const row of rows) {
        const entry = this.entries.decode(row);
        const body = this.terms.ofEntry(entry);
        if (body !== '') this.connection.run('INSERT INTO entries_fts(docid, body) VALUES (?, ?)', [entry.seq, body]);
        last = entry.seq;
        read++;
        if (performance.now() - started >= budgetMs) break;
      }
      if (read > 0) this.connection.run('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)', [highWaterKey, last]);
      return read > 0;
    });
  }

  /** Forgets everything, for entries that are gone: such a table cannot delete. It is filled again as for a store that never had one. */
  reset(): void {
    const { sql } = this.connection.get("SELECT sql FROM sqlite_master WHERE name = 'entries_fts'") ?? {};
    this.connection.exec(`DROP TABLE entries_fts; ${String(sql)}; INSERT INTO entries_fts(entries_fts) VALUES ('automerge=8');`);
    this.connection.run('DELETE FROM meta WHERE key = ?', [highWaterKey]);
    this.counted = { ...this.counted, through: 0 };
  }

  /**
   * Indexed entries of the scope with any of the terms, scored by BM25 over whole entries: with the rarest of the terms, and when
   * even that one is too frequent for all to be scored, the newest with several of them and the newest with the rarest.
   */
  candidates(terms: readonly string[], { condition }: Pick<SearchScope, 'condition'>): Candidates {
    const statistics = this.statistics(terms);
    const { count, documentFrequency } = statistics;
    const chosen = affordable(documentFrequency, condition === null ? 1 : this.share(condition, count));
    const first = chosen.terms[0];
    if (first === undefined) return { found: [], whole: true, count, documentFrequency };
    const found = new Map<number, number>();
    const find = (indices: readonly number[], operator: 'AND' | 'OR', limit: number) => {
      for (const { seq, score } of this.scored(
        indices,
        matchExpression(
          indices.map((term) => terms[term] ?? ''),
          operator,
        ),
        statistics,
        condition,
        limit,
      )) {
        found.set(seq, Math.max(score, found.get(seq) ?? 0));
      }
    };
    if (chosen.whole) find(chosen.terms, 'OR', maxRows);
    else {
      if (chosen.terms.length > 1) find(chosen.terms.slice(0, maxJoined), 'AND', maxCommonRows);
      // Words that nearly every entry has: the newest with the rarest are these.
      if (found.size < maxCommonRows) find([first], 'OR', maxCommonRows);
    }
    const best = [...found].map(([seq, score]) => ({ seq, score })).sort((x, y) => y.score - x.score || y.seq - x.seq);
    return { found: best, whole: chosen.whole, count, documentFrequency };
  }

  private *scored(
    indices: readonly number[],
    expression: string,
    statistics: Statistics,
    condition: SqlCondition | null,
    limit: number,
  ): Generator<Candidate> {
    const { count, averageLength, documentFrequency } = statistics;
    const weights = indices.map((term) => inverseFrequency(documentFrequency[term] ?? 0, count));
    const scope = condition === null ? '' : `CROSS JOIN entries e ON e.seq = entries_fts.docid AND ${condition.sql}`;
    // It asks only for what differs from row to row; the totals would be read again for each.
    const sql = `SELECT entries_fts.docid AS docid, matchinfo(entries_fts, 'ly') AS info FROM entries_fts ${scope}
      WHERE entries_fts MATCH ? ORDER BY entries_fts.docid DESC LIMIT ?`;
    for (const row of this.connection.iterate(sql, [...(condition?.parameters ?? []), expression, limit])) {
      const info = matchInfo(row['info']);
      const length = (info[0] ?? 0) / averageLength;
      let score = 0;
      for (let i = 0; i < weights.length; i++) {
        const frequency = info[i + 1] ?? 0;
        if (frequency > 0) score += (weights[i] ?? 0) * saturation(frequency, length);
      }
      yield { seq: Number(row['docid']), score };
    }
  }

  /** How much of the index a scope is. */
  private share({ sql, parameters }: SqlCondition, count: number): number {
    const row = this.connection.get(`SELECT count(*) AS n FROM entries e WHERE ${sql}`, parameters);
    return Math.min(1, Number(row?.['n']) / Math.max(1, count));
  }

  /** Counting a common word in 20,000 messages takes 4 ms: kept for as long as the index stays as it is. */
  private statistics(terms: readonly string[]): Statistics {
    const through = this.indexedThrough;
    if (through !== this.counted.through || this.counted.frequencies.size > maxCounted)
      this.counted = { through, count: 0, averageLength: 1, frequencies: new Map() };
    const { frequencies } = this.counted;
    const unknown = through === 0 ? [] : terms.filter((term) => !frequencies.has(term));
    if (unknown.length > 0) {
      const row = this.connection.get("SELECT matchinfo(entries_fts, 'pcnax') AS info FROM entries_fts WHERE entries_fts MATCH ? LIMIT 1", [
        matchExpression(unknown),
      ]);
      const [, , count = 0, averageLength = 0, ...hits] = row ? matchInfo(row['info']) : [];
      if (row) this.counted = { through, count, averageLength: Math.max(1, averageLength), frequencies };
      unknown.forEach((term, i) => frequencies.set(term, hits[3 * i + 2] ?? 0));
    }
    const { count, averageLength } = this.counted;
    return { count, averageLength, documentFrequency: terms.map((term) => frequencies.get(term) ?? 0) };
  }
}

interface Statistics extends CorpusStatistics {
  readonly averageLength: number;
}

/** Rows that one search scores, about 2 µs each. */
const maxRows = 4_000;
const maxCommonRows = 800;
/** Terms that entries must have together; each costs reading all of its places. */
const maxJoined = 3;
/** Terms whose frequency is remembered. */
const maxCounted = 5_000;

/**
 * The rarest terms, as many as stay within `maxRows`; all of them, rarest first, when even one has more (`whole` is false then).
 * What is so frequent tells entries apart by little; the ranking of the passages counts it again.
 */
function affordable(documentFrequency: readonly number[], share: number): { readonly terms: readonly number[]; readonly whole: boolean } {
  let rows = 0;
  const present = documentFrequency
    .map((df, term) => ({ df: df * share, term }))
    .filter(({ df }) => df > 0)
    .sort((x, y) => x.df - y.df);
  const within = present.filter(({ df }) => (rows += df) <= maxRows);
  return { terms: (within.length > 0 ? within : present).map(({ term }) => term), whole: within.length > 0 };
}

function matchInfo(value: unknown): Uint32Array {
  if (!(value instanceof Uint8Array)) return new Uint32Array(0);
  return value.byteOffset % 4 === 0
    ? new Uint32Array(value.buffer, value.byteOffset, value.length / 4)
    : new Uint32Array(value.slice().buffer);
}
