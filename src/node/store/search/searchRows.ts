import { passagesOf, speaker, type HistoryPassage } from '../../../core/recall/history';
import { PassageRanker, type Ranked } from '../../../core/recall/rankPassages';
import { kindsWhere } from '../../../core/session/entryKinds';
import type { SearchHit, SearchQuery, SearchResult } from '../../../core/session/searchQuery';
import type { StoredEntry } from '../../../core/session/entry';
import { entryText } from '../../../core/session/entryKinds';
import type { Connection } from '../database/connection';
import { entrySelection } from '../rows/entryCodec';
import type { EntryRows } from '../rows/entryRows';
import type { Candidates, SearchIndex } from './searchIndex';
import { roleOf } from './searchRole';
import { SearchScope } from './searchScope';
import type { SessionRows } from '../rows/sessionRows';

/** Whole entries that the index proposes, for each result and at least; their passages and those beside them are ranked. */
const candidatesPerHit = 2;
const minCandidates = 150;
/** Read of the candidates, the best first, about 30 ns each; one huge entry may use it all. */
const maxCandidateCharacters = 150_000;
/** Long messages: that many are read even so. */
const fewestCandidates = 25;
/** Words that tell entries apart by little and stand in every sentence get this share of both: then a character takes 200 ns. */
const commonShare = 0.4;
/**
 * Characters read of the entries that are not yet indexed, newest first; so many of the newest are read however long they are. Not a
 * time: on a busy machine a search would find less.
 */
const maxScanned = 8_000_000;
const alwaysScanned = 500;
/** One entry gives at most so many, so that a long one does not hide the others. */
const maxPerEntry = 3;

const searchableTypes = `(${[...kindsWhere(({ isFound }) => isFound)].map((type) => `'${type}'`).join(', ')})`;

interface Beside {
  readonly entry: StoredEntry;
  part: 'all' | 'start' | 'end' | 'both';
  /** Follows in its session on what was added last of it. */
  readonly joins: boolean;
}

/** Full-text search: the index proposes entries, what it does not cover yet is scanned, and core/recall ranks both as one. */
export class SearchRows {
  constructor(
    private readonly connection: Connection,
    private readonly index: SearchIndex,
    private readonly entries: EntryRows,
    private readonly sessions: SessionRows,
  ) {}

  search(query: SearchQuery): SearchResult {
    const ranker = new PassageRanker<HistoryPassage>(query.text);
    const { terms } = ranker;
    const scope = new SearchScope(this.connection, this.sessions, this.entries, query);
    if (terms.length === 0) return { hits: [], terms, statistics: ranker.statistics, complete: true };
    const complete = this.addUnindexed(ranker, scope, query.whole === true);
    const candidates = this.index.candidates(terms, scope);
    ranker.assume(candidates);
    this.addCandidates(ranker, candidates, scope, Math.max(minCandidates, candidatesPerHit * query.limit));
    return { hits: this.hits(ranker.ranked(), scope, query.limit), terms, statistics: ranker.statistics, complete };
  }

  /** Newest first, as the candidates after them. Returns false when the bounds ended it. */
  private addUnindexed(ranker: PassageRanker<HistoryPassage>, scope: SearchScope, whole: boolean): boolean {
    const from = this.index.indexedThrough;
    let read = 0;
    let characters = 0;
    for (const row of this.connection.iterate(`${select} WHERE e.seq > ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq DESC`, [
      from,
    ])) {
      if (!whole && ++read > alwaysScanned && characters > maxScanned) return false;
      const entry = this.entries.decode(row);
      characters += entryText(entry.content).length;
      if (scope.contains(entry)) ranker.add(passagesOf(entry));
    }
    return true;
  }

  private addCandidates(
    ranker: PassageRanker<HistoryPassage>,
    { found, whole }: Candidates,
    scope: SearchScope,
    maxCandidates: number,
  ): void {
    const share = whole ? 1 : commonShare;
    const maxCharacters = maxCandidateCharacters * share;
    const candidates = new Map<number, StoredEntry>();
    let characters = 0;
    for (const { seq } of found) {
      const entry = this.one('e.seq = ?', [seq]);
      if (!entry || !scope.matches(entry)) continue;
      candidates.set(seq, entry);
      characters += entryText(entry.content).length;
      if (candidates.size >= maxCandidates || characters >= 8 * maxCharacters) break;
      if (candidates.size >= fewestCandidates * share && characters >= maxCharacters) break;
    }
    for (const { entry, part, joins } of this.withNeighbours(candidates, scope)) {
      const passages = passagesOf(entry);
      if (!joins) ranker.gap(entry.session);
      if (part === 'all' || passages.length < 2) {
        ranker.add(passages, true);
        continue;
      }
      if (part !== 'start') ranker.add(passages.slice(0, 1), true);
      if (part === 'both') ranker.gap(entry.session);
      if (part !== 'end') ranker.add(passages.slice(-1), true);
    }
  }

  /** The candidates with what stands beside them, newest first: of an entry that is none itself, the end that touches one. */
  private withNeighbours(candidates: ReadonlyMap<number, StoredEntry>, scope: SearchScope): Beside[] {
    const through = this.index.indexedThrough;
    const isHere = (entry: StoredEntry | undefined): entry is StoredEntry =>
      entry !== undefined && entry.seq <= through && scope.contains(entry);
    const rows: Beside[] = [];
    /** The last of each session. */
    const last = new Map<string, Beside>();
    const add = (row: Beside) => {
      rows.push(row);
      last.set(row.entry.session, row);
    };
    for (const entry of [...candidates.values()].sort((x, y) => y.seq - x.seq)) {
      const after = this.one(`e.session = ? AND e.seq > ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq LIMIT 1`, [
        entry.session,
        entry.seq,
      ]);
      const before = this.one(`e.session = ? AND e.seq < ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq DESC LIMIT 1`, [
        entry.session,
        entry.seq,
      ]);
      const isCandidate = after !== undefined && candidates.has(after.seq);
      // A neighbour that is scanned or out of the scope is none here.
      const between = last.get(entry.session);
      if (between !== undefined && between.entry.seq === after?.seq && between.part === 'end') between.part = 'both';
      else if (!isCandidate && isHere(after)) add({ entry: after, part: 'start', joins: false });
      add({ entry, part: 'all', joins: isHere(after) });
      if (isHere(before) && !candidates.has(before.seq)) add({ entry: before, part: 'end', joins: true });
    }
    return rows;
  }

  private hits(ranked: readonly Ranked<HistoryPassage>[], scope: SearchScope, limit: number): SearchHit[] {
    const hits: SearchHit[] = [];
    const seen = new Set<string>();
    const perEntry = new Map<string, number>();
    for (const { item, score } of ranked) {
      if (hits.length >= limit) break;
      const { entry, start, length } = item;
      const session = scope.sessionOf(entry);
      const text = item.text.trim();
      const count = perEntry.get(entry.uuid) ?? 0;
      if (text === '' || seen.has(text) || count >= maxPerEntry || !scope.matches(entry)) continue;
      seen.add(text);
      perEntry.set(entry.uuid, count + 1);
      const { id = session, title = '' } = this.sessions.find(session) ?? {};
      hits.push({
        entry: entry.uuid,
        seq: entry.seq,
        session,
        sessionId: id,
        sessionTitle: title,
        role: roleOf(entry.content),
        speaker: speaker(entry.content),
        at: entry.createdAt,
        score,
        text: item.text,
        start,
        length,
      });
    }
    return hits;
  }

  private one(where: string, parameters: readonly (string | number)[]): StoredEntry | undefined {
    const row = this.connection.get(`${select} WHERE ${where}`, parameters);
    return row && this.entries.decode(row);
  }
}

const select = `SELECT ${entrySelection} FROM entries e JOIN bodies b ON b.entry = e.seq`;
