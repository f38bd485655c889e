import { IndexTerms, matchExpression } from '../../core/recall/indexTerms';
import { inverseFrequency, saturation, type CorpusStatistics } from '../../core/recall/rankPassages';
import type { Connection } from './connection';
import { decodeEntry, entrySelection } from './entryCodec';

export interface Candidate {
  readonly seq: number;
  readonly score: number;
}

export interface Candidates extends CorpusStatistics {
  /** Best first, every one that matches. */
  readonly found: readonly Candidate[];
}

/** Entries read per batch at most; the time budget usually ends it before. */
const batchEntries = 200;
const highWaterKey = 'fts_indexed';

/** The full-text index over entries. It follows the entries at its own pace: what is above `indexedThrough` has to be scanned. */
export class SearchIndex {
  private readonly terms = new IndexTerms();

  constructor(private readonly connection: Connection) {}

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
        const entry = decodeEntry(row);
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

  /** Every indexed entry with any of the terms, scored by BM25 over whole entries. */
  candidates(terms: readonly string[]): Candidates {
    if (this.indexedThrough === 0) return { found: [], count: 0, documentFrequency: [] };
    const found: Candidate[] = [];
    let weights: readonly number[] | undefined;
    let count = 0;
    let documentFrequency: readonly number[] = [];
    for (const row of this.connection.iterate("SELECT docid, matchinfo(entries_fts, 'pcnalx') AS info FROM entries_fts WHERE entries_fts MATCH ?", [
      matchExpression(terms),
    ])) {
      const info = matchInfo(row['info']);
      if (!weights) {
        count = info[2] ?? 0;
        documentFrequency = terms.map((_, term) => info[frequencies + 3 * term + 2] ?? 0);
        weights = documentFrequency.map((df) => inverseFrequency(df, count));
      }
      found.push({ seq: Number(row['docid']), score: entryScore(info, weights) });
    }
    found.sort((x, y) => y.score - x.score || y.seq - x.seq);
    return { found, count, documentFrequency };
  }
}

/** Words of `pcnalx` over one column: phrases, columns, documents, average length, length, then three per phrase. */
const frequencies = 5;

function entryScore(info: Uint32Array, weights: readonly number[]): number {
  const length = (info[4] ?? 0) / Math.max(1, info[3] ?? 0);
  let score = 0;
  for (let term = 0; term < weights.length; term++) {
    const frequency = info[frequencies + 3 * term] ?? 0;
    if (frequency > 0) score += (weights[term] ?? 0) * saturation(frequency, length);
  }
  return score;
}

function matchInfo(value: unknown): Uint32Array {
  if (!(value instanceof Uint8Array)) return new Uint32Array(0);
  return value.byteOffset % 4 === 0 ? new Uint32Array(value.buffer, value.byteOffset, value.length / 4) : new Uint32Array(value.slice().buffer);
}
