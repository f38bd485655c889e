import { type CorpusStatistics, type Evidence, type GroupStatistics } from '../../../core/recall/contextScores';
import { passagesOf } from '../../../core/recall/history';
import { IndexTerms, matchExpression } from '../../../core/recall/indexTerms';
import { fields, namedField } from '../../../core/recall/passageFields';
import { textLength } from '../../../core/recall/tokenizeTerms';
import type { Connection } from '../database/connection';
import { entrySelection } from '../rows/entryCodec';
import type { EntryRows } from '../rows/entryRows';
import type { SearchScope, SqlCondition } from './searchScope';

export interface IndexedEvidence {
  readonly evidence: readonly Evidence[];
  /** Terms that were not counted: so frequent that they tell passages apart by little. */
  readonly left: ReadonlySet<number>;
  readonly statistics: CorpusStatistics;
  readonly groups: GroupStatistics;
}

/** Where a passage stands. */
export interface PassagePlace {
  /** `seq` of its entry. */
  readonly entry: number;
  readonly part: number;
  readonly parts: number;
  readonly length: number;
}

/** Entries read per batch at most; the time budget usually ends it before. */
const batchEntries = 200;
const highWaterKey = 'fts_indexed';

/**
 * The full-text index over the passages of entries. It follows the entries at its own pace: what is above `indexedThrough` has to
 * be scanned.
 */
export class SearchIndex {
  private readonly terms = new IndexTerms();
  /** It is true of the index up to `through`. */
  private counted: Counted = nothingCounted(0);
  private hasPassages: boolean | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly entries: Pick<EntryRows, 'decode'>,
    /** Its passages are numbered by this index. */
    private readonly vectors: { forgetPassages(): void },
  ) {}

  /** The highest `seq` that the index covers; 0 for a database that has no index, or one of an older version that must not be changed. */
  get indexedThrough(): number {
    this.hasPassages ??= this.connection.get("SELECT 1 FROM sqlite_master WHERE name = 'passages'") !== undefined;
    if (!this.hasPassages) return 0;
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
      let id = Number(this.connection.get('SELECT max(id) AS last FROM passages')?.['last'] ?? 0);
      const sessions = new Map<string, SessionCount>();
      const rows = this.connection.iterate(
        `SELECT ${entrySelection} FROM entries e JOIN bodies b ON b.entry = e.seq WHERE e.seq > ? ORDER BY e.seq LIMIT ${batchEntries}`,
        [last],
      );
      for (const row of rows) {
        const entry = this.entries.decode(row);
        for (const passage of passagesOf(entry)) {
          if (passage.text.trim() === '') continue;
          const session = sessions.get(entry.session) ?? this.sessionCount(entry.session);
          sessions.set(entry.session, session);
          const length = textLength(passage.text);
          this.connection.run('INSERT INTO entries_fts(docid, said, asked, dated, named) VALUES (?, ?, ?, ?, ?)', [
            ++id,
            ...this.terms.ofPassage(passage),
          ]);
          this.connection.run('INSERT INTO passages(id, entry, session, position, part, parts, length) VALUES (?, ?, ?, ?, ?, ?, ?)', [
            id,
            entry.seq,
            session.number,
            session.passages++,
            passage.part,
            passage.parts,
            length,
          ]);
          session.length += length;
        }
        last = entry.seq;
        read++;
        if (performance.now() - started >= budgetMs) break;
      }
      for (const { number, passages, length } of sessions.values())
        this.connection.run('UPDATE passage_sessions SET passages = ?, length = ? WHERE number = ?', [passages, length, number]);
      if (read > 0) this.connection.run('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)', [highWaterKey, last]);
      return read > 0;
    });
  }

  /** Forgets everything, for entries that are gone: such a table cannot delete. It is filled again as for a store that never had one. */
  reset(): void {
    const { sql } = this.connection.get("SELECT sql FROM sqlite_master WHERE name = 'entries_fts'") ?? {};
    this.connection.exec(`DROP TABLE entries_fts; ${String(sql)}; INSERT INTO entries_fts(entries_fts) VALUES ('automerge=8');
      DELETE FROM passages; DELETE FROM passage_sessions;`);
    this.connection.run('DELETE FROM meta WHERE key = ?', [highWaterKey]);
    this.vectors.forgetPassages();
    this.counted = nothingCounted(0);
  }

  /**
   * What the index has counted of the scope's passages with any of the terms: of all that have the rarest ones. Of terms that are too
   * frequent for that it has the newest passages with several of them and the newest with the rarest, where all terms are, or all that are
   * present of `first`: the terms that are counted before all others.
   */
  evidence(terms: readonly string[], first: ReadonlySet<number>, scope: Pick<SearchScope, 'within' | 'matching'>): IndexedEvidence {
    const statistics = this.statistics(terms);
    const { within, matching } = scope;
    const { rare, common } = affordable(statistics.documentFrequency, first, within === null ? 1 : this.share(within));
    const found = new Map<number, Evidence>();
    const find = (indices: readonly number[], operator: 'AND' | 'OR', limit: number, where: SqlCondition | null) => {
      let rows = 0;
      for (const [id, one] of this.counts(terms, indices, operator, where, matching, limit)) {
        found.set(id, together(found.get(id), one));
        rows++;
      }
      return rows;
    };
    if (rare.length > 0) find(rare, 'OR', maxRows, within);
    const rarest = common.slice(0, 1);
    if (rarest.length > 0) {
      const newest = both(within, matching);
      const joined = common.length > 1 ? find(common.slice(0, maxJoined), 'AND', maxCommonRows, newest) : 0;
      // Words that nearly every entry has: the newest with the rarest are these.
      if (joined < maxCommonRows) find(rarest, 'OR', maxCommonRows, newest);
    }
    const seen = new Set(rare.length > 0 ? rare : rarest);
    const left = new Set(terms.flatMap((_, term) => (seen.has(term) || (statistics.documentFrequency[term] ?? 0) === 0 ? [] : [term])));
    return { evidence: [...found.values()], left, statistics, groups: this.groups };
  }

  /** The number of a session in the index, and how many passages it has there; undefined for one without any. */
  session(uuid: string): { readonly number: number; readonly passages: number } | undefined {
    if (this.indexedThrough === 0) return undefined;
    const row = this.connection.get('SELECT number, passages FROM passage_sessions WHERE session = ?', [uuid]);
    return row && { number: Number(row['number']), passages: Number(row['passages']) };
  }

  place(session: number, position: number): PassagePlace | undefined {
    const row = this.connection.get('SELECT entry, part, parts, length FROM passages WHERE session = ? AND position = ?', [
      session,
      position,
    ]);
    return row && { entry: Number(row['entry']), part: Number(row['part']), parts: Number(row['parts']), length: Number(row['length']) };
  }

  private *counts(
    terms: readonly string[],
    indices: readonly number[],
    operator: 'AND' | 'OR',
    within: SqlCondition | null,
    matching: SqlCondition | null,
    limit: number,
  ): Generator<readonly [number, Evidence]> {
    const expression = matchExpression(
      indices.map((term) => terms[term] ?? ''),
      operator,
    );
    // It asks only for what differs from row to row; the totals would be read again for each.
    const sql = `SELECT p.id AS id, p.session AS session, p.position AS position, p.parts AS parts, p.length AS length,
        ${matching === null ? '1' : `(SELECT (${matching.sql}) FROM entries e WHERE e.seq = p.entry)`} AS matches,
        matchinfo(entries_fts, 'y') AS info
      FROM entries_fts CROSS JOIN passages p ON p.id = entries_fts.docid ${within === null ? '' : `AND ${within.sql}`}
      WHERE entries_fts MATCH ? ORDER BY entries_fts.docid DESC LIMIT ?`;
    const parameters = [...(matching?.parameters ?? []), ...(within?.parameters ?? []), expression, limit];
    for (const row of this.connection.iterate(sql, parameters)) {
      const info = matchInfo(row['info']);
      const hits = new Uint8Array(terms.length * stride);
      indices.forEach((term, i) => {
        for (let field = 0; field < stride; field++) hits[term * stride + field] = info[i * stride + field] ?? 0;
      });
      yield [
        Number(row['id']),
        {
          group: Number(row['session']),
          position: Number(row['position']),
          parts: Number(row['parts']),
          length: Number(row['length']),
          hits,
          ...(Number(row['matches']) === 1 ? {} : { hidden: true }),
        },
      ];
    }
  }

  private sessionCount(uuid: string): SessionCount {
    this.connection.run('INSERT OR IGNORE INTO passage_sessions(session, passages, length) VALUES (?, 0, 0)', [uuid]);
    const row = this.connection.get('SELECT number, passages, length FROM passage_sessions WHERE session = ?', [uuid]);
    return { number: Number(row?.['number']), passages: Number(row?.['passages']), length: Number(row?.['length']) };
  }

  /** How much of the index a scope is. */
  private share({ sql, parameters }: SqlCondition): number {
    const { n } = this.connection.get(`SELECT count(*) AS n FROM passages p WHERE ${sql}`, parameters) ?? {};
    return Math.min(1, Number(n) / Math.max(1, this.counted.count));
  }

  private get groups(): GroupStatistics {
    const { sessions, length } = this.counted;
    const known = new Map<string | number, number>();
    const of = (group: string | number) => {
      if (typeof group === 'string') return 0;
      const found =
        known.get(group) ?? Number(this.connection.get('SELECT length FROM passage_sessions WHERE number = ?', [group])?.['length'] ?? 0);
      known.set(group, found);
      return found;
    };
    return { count: sessions, length, of };
  }

  /** Counting a common word in 20,000 messages takes 4 ms: kept for as long as the index stays as it is. */
  private statistics(terms: readonly string[]): CorpusStatistics {
    const through = this.indexedThrough;
    if (through !== this.counted.through || this.counted.frequencies.size > maxCounted) {
      const row =
        through === 0
          ? undefined
          : this.connection.get('SELECT count(*) AS sessions, total(passages) AS count, total(length) AS length FROM passage_sessions');
      this.counted = {
        ...nothingCounted(through),
        ...(row && { sessions: Number(row['sessions']), count: Number(row['count']), length: Number(row['length']) }),
      };
    }
    const { frequencies, count, length } = this.counted;
    const unknown = through === 0 ? [] : terms.filter((term) => !frequencies.has(term));
    if (unknown.length > 0) {
      const row = this.connection.get("SELECT matchinfo(entries_fts, 'x') AS info FROM entries_fts WHERE entries_fts MATCH ? LIMIT 1", [
        matchExpression(unknown),
      ]);
      const info = row ? matchInfo(row['info']) : [];
      unknown.forEach((term, i) => {
        const passages = (field: number) => info[3 * (i * stride + field) + 2] ?? 0;
        const all = fields.reduce((sum, _, field) => sum + passages(field), 0);
        frequencies.set(term, { all: Math.min(count, all), named: passages(namedField) });
      });
    }
    return {
      count,
      length,
      documentFrequency: terms.map((term) => frequencies.get(term)?.all ?? 0),
      named: terms.map((term) => frequencies.get(term)?.named ?? 0),
    };
  }
}

interface SessionCount {
  readonly number: number;
  passages: number;
  length: number;
}

interface Counted {
  readonly through: number;
  readonly count: number;
  readonly length: number;
  readonly sessions: number;
  readonly frequencies: Map<string, { readonly all: number; readonly named: number }>;
}

function nothingCounted(through: number): Counted {
  return { through, count: 0, length: 0, sessions: 0, frequencies: new Map() };
}

const stride = fields.length;
/** Rows that one search counts, about 3 µs each. */
const maxRows = 4_000;
const maxCommonRows = 600;
/** Terms that entries must have together; each costs reading all of its places. */
const maxJoined = 3;
/** Terms whose frequency is remembered. */
const maxCounted = 5_000;

/**
 * `rare` are the rarest terms, as many as stay within `maxRows`, those of `first` before all others. What is more frequent tells passages
 * apart by little; of the best it is counted again in their text. `common`, rarest first, are terms that passages are still looked for by:
 * all of them when even the rarest has too many, and those of `first` when none of these could be taken, or a text with such a token would
 * be found by the query's other words only.
 */
function affordable(
  documentFrequency: readonly number[],
  first: ReadonlySet<number>,
  share: number,
): { readonly rare: readonly number[]; readonly common: readonly number[] } {
  const present = documentFrequency
    .map((df, term) => ({ df: df * share, term, order: first.has(term) ? 0 : 1 }))
    .filter(({ df }) => df > 0)
    .sort((x, y) => x.order - y.order || x.df - y.df);
  const rare: number[] = [];
  let rows = 0;
  for (const { df, term } of present) {
    if (rows + df > maxRows) continue;
    rows += df;
    rare.push(term);
  }
  const all = present.map(({ term }) => term);
  if (rare.length === 0) return { rare, common: all };
  return { rare, common: rare.some((term) => first.has(term)) ? [] : all.filter((term) => first.has(term)) };
}

/** What two looks have counted of one passage, each for its own terms. */
function together(one: Evidence | undefined, other: Evidence): Evidence {
  return one ? { ...one, hits: Array.from(one.hits, (hits, i) => Math.max(hits, other.hits[i] ?? 0)) } : other;
}

/** Where only the newest are counted, those that cannot be found must not be among them. */
function both(within: SqlCondition | null, matching: SqlCondition | null): SqlCondition | null {
  if (matching === null) return within;
  const sql = `EXISTS (SELECT 1 FROM entries e WHERE e.seq = p.entry AND ${matching.sql})`;
  return within === null
    ? { ...matching, sql }
    : { sql: `${within.sql} AND ${sql}`, parameters: [...within.parameters, ...matching.parameters] };
}

function matchInfo(value: unknown): Uint32Array {
  if (!(value instanceof Uint8Array)) return new Uint32Array(0);
  return value.byteOffset % 4 === 0
    ? new Uint32Array(value.buffer, value.byteOffset, value.length / 4)
    : new Uint32Array(value.slice().buffer);
}
