import { IndexTerms, matchExpression } from '../../core/recall/indexTerms';
import { inverseFrequency, saturation, type CorpusStatistics } from '../../core/recall/rankPassages';
import type { Connection } from './connection';
import { entrySelection } from './entryCodec';
import type { EntryRows } from './entryRows';

export interface Candidate {
  readonly seq: number;
  readonly score: number;
}

export interface Candidates extends CorpusStatistics {
  /** Best first. */
  readonly found: readonly Candidate[];
}

/** Entries read per batch at most; the time budget usually ends it before. */
const batchEntries = 200;
const highWaterKey = 'fts_indexed';

/** The full-text index over entries. It follows the entries at its own pace: what is above `indexedThrough` has to be scanned. */
export class SearchIndex {
  private readonly terms = new IndexTerms();

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
  }

  /** Indexed entries with any of the terms, scored by BM25 over whole entries. */
  candidates(terms: readonly string[]): Candidates {
    const statistics = this.statistics(terms);
    const { count, averageLength, documentFrequency } = statistics;
    const chosen = affordable(documentFrequency);
    if (chosen.length === 0) return { found: [], count, documentFrequency };
    const weights = chosen.map((term) => inverseFrequency(documentFrequency[term] ?? 0, count));
    const found: Candidate[] = [];
    const expression = matchExpression(chosen.map((term) => terms[term] ?? ''));
    // Only what differs from row to row; the totals would be read again for each.
    for (const row of this.connection.iterate("SELECT docid, matchinfo(entries_fts, 'ly') AS info FROM entries_fts WHERE entries_fts MATCH ?", [expression])) {
      const info = matchInfo(row['info']);
      const length = (info[0] ?? 0) / averageLength;
      let score = 0;
      for (let i = 0; i < weights.length; i++) {
        const frequency = info[i + 1] ?? 0;
        if (frequency > 0) score += (weights[i] ?? 0) * saturation(frequency, length);
      }
      found.push({ seq: Number(row['docid']), score });
    }
    found.sort((x, y) => y.score - x.score || y.seq - x.seq);
    return { found, count, documentFrequency };
  }

  private statistics(terms: readonly string[]): CorpusStatistics & { readonly averageLength: number } {
    const none = { count: 0, averageLength: 1, documentFrequency: terms.map(() => 0) };
    if (this.indexedThrough === 0) return none;
    const row = this.connection.get("SELECT matchinfo(entries_fts, 'pcnax') AS info FROM entries_fts WHERE entries_fts MATCH ? LIMIT 1", [matchExpression(terms)]);
    if (!row) return none;
    const [, , count = 0, averageLength = 0, ...frequencies] = matchInfo(row['info']);
    return { count, averageLength: Math.max(1, averageLength), documentFrequency: terms.map((_, term) => frequencies[3 * term + 2] ?? 0) };
  }
}

/** Rows that one search scores, about 2 µs each. */
const maxRows = 8_000;

/**
 * The rarest terms, as many as stay within `maxRows`, and at least one. What is so frequent tells entries apart by little; the
 * ranking of the passages counts it again.
 */
function affordable(documentFrequency: readonly number[]): number[] {
  let rows = 0;
  return documentFrequency
    .map((df, term) => ({ df, term }))
    .filter(({ df }) => df > 0)
    .sort((x, y) => x.df - y.df)
    .filter(({ df }, i) => (rows += df) <= maxRows || i === 0)
    .map(({ term }) => term)
    .sort((x, y) => x - y);
}

function matchInfo(value: unknown): Uint32Array {
  if (!(value instanceof Uint8Array)) return new Uint32Array(0);
  return value.byteOffset % 4 === 0 ? new Uint32Array(value.buffer, value.byteOffset, value.length / 4) : new Uint32Array(value.slice().buffer);
}
