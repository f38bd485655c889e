import { passagesOf, speaker, type HistoryPassage } from '../../core/recall/history';
import { PassageRanker, type Ranked } from '../../core/recall/rankPassages';
import type { SearchHit, SearchQuery, SearchResult } from '../../core/ports';
import { entryText, type StoredEntry } from '../../core/session/entry';
import type { Connection } from './connection';
import { entrySelection } from './entryCodec';
import type { EntryRows } from './entryRows';
import type { Candidate, SearchIndex } from './searchIndex';
import { roleOf } from './searchRole';
import { SearchScope } from './searchScope';
import type { SessionRows } from './sessionRows';

/** Whole entries that the index proposes, for each result and at least; their passages and those of their neighbours are ranked. */
const candidatesPerHit = 2;
const minCandidates = 150;
/** One huge entry may use it all: the best are read first. */
const maxCandidateCharacters = 2_000_000;
/** Not yet indexed entries that are read, newest first: 60 million characters of code take 0.4 s (rare words) to 2.2 s (frequent ones). */
const maxScannedEntries = 20_000;
const maxScannedCharacters = 60_000_000;
/** Of one entry, so that a long one does not hide the others. */
const maxPerEntry = 3;

const searchableTypes = "('message', 'tool_call', 'tool_result', 'memory_note', 'branch_summary', 'custom_message')";

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
    const complete = this.addUnindexed(ranker, scope);
    const candidates = this.index.candidates(terms);
    ranker.assume(candidates);
    this.addCandidates(ranker, candidates.found, scope, Math.max(minCandidates, candidatesPerHit * query.limit));
    return { hits: this.hits(ranker.ranked(), scope, query.limit), terms, statistics: ranker.statistics, complete };
  }

  /** Newest first, as the candidates after them. Returns false when the bounds ended it. */
  private addUnindexed(ranker: PassageRanker<HistoryPassage>, scope: SearchScope): boolean {
    const from = this.index.indexedThrough;
    let characters = 0;
    let read = 0;
    for (const row of this.connection.iterate(`${select} WHERE e.seq > ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq DESC`, [from])) {
      const entry = this.entries.decode(row);
      if (!scope.contains(entry)) continue;
      characters += entryText(entry.content).length;
      if (++read > maxScannedEntries || characters > maxScannedCharacters) return false;
      ranker.add(passagesOf(entry));
    }
    return true;
  }

  private addCandidates(ranker: PassageRanker<HistoryPassage>, found: readonly Candidate[], scope: SearchScope, maxCandidates: number): void {
    const read = new Map<number, StoredEntry>();
    /** For each entry, the one before it in its session. */
    const previous = new Map<number, number>();
    const through = this.index.indexedThrough;
    let accepted = 0;
    let characters = 0;
    for (const { seq } of found) {
      if (!scope.mayContain(seq)) continue;
      const entry = read.get(seq) ?? this.one('e.seq = ?', [seq]);
      if (!entry || !scope.matches(entry)) continue;
      read.set(seq, entry);
      const before = this.one(`e.session = ? AND e.seq < ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq DESC LIMIT 1`, [entry.session, seq]);
      const after = this.one(`e.session = ? AND e.seq > ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq LIMIT 1`, [entry.session, seq]);
      if (before) previous.set(seq, before.seq);
      if (after) previous.set(after.seq, seq);
      // A neighbour that is scanned or out of the scope is none here.
      for (const one of [before, after]) {
        if (!one || one.seq > through || !scope.contains(one) || read.has(one.seq)) continue;
        read.set(one.seq, one);
        characters += entryText(one.content).length;
      }
      characters += entryText(entry.content).length;
      if (++accepted >= maxCandidates || characters >= maxCandidateCharacters) break;
    }
    const expected = new Map<string, number | undefined>();
    for (const entry of [...read.values()].sort((x, y) => y.seq - x.seq)) {
      if (expected.get(entry.session) !== entry.seq) ranker.gap(entry.session);
      ranker.add(passagesOf(entry), true);
      expected.set(entry.session, previous.get(entry.seq));
    }
  }

  private hits(ranked: readonly Ranked<HistoryPassage>[], scope: SearchScope, limit: number): SearchHit[] {
    const hits: SearchHit[] = [];
    const seen = new Set<string>();
    const perEntry = new Map<string, number>();
    for (const { item, score } of ranked) {
      if (hits.length >= limit) break;
      const { entry, start, length } = item;
      const text = item.text.trim();
      const count = perEntry.get(entry.uuid) ?? 0;
      if (text === '' || seen.has(text) || count >= maxPerEntry || !scope.matches(entry)) continue;
      seen.add(text);
      perEntry.set(entry.uuid, count + 1);
      const { id = entry.session, title = '' } = this.sessions.find(entry.session) ?? {};
      hits.push({
        entry: entry.uuid,
        seq: entry.seq,
        session: entry.session,
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
