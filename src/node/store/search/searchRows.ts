import { passagesOf, speaker, type HistoryPassage } from '../../../core/recall/history';
import { PassageRanker, type Looked } from '../../../core/recall/rankPassages';
import { resolveDates } from '../../../core/recall/relativeDates';
import { entryText, kindsWhere, type StoredEntry } from '../../../core/session/entry';
import type { SearchHit, SearchQuery, SearchResult } from '../../../core/session/searchQuery';
import type { Connection } from '../database/connection';
import { entrySelection } from '../rows/entryCodec';
import type { EntryRows } from '../rows/entryRows';
import type { Operations } from '../client/storeCalls';
import type { SessionRows } from '../rows/sessionRows';
import type { SearchIndex } from './searchIndex';
import { roleOf, SearchScope } from './searchScope';
import type { VectorRows } from './vectorRows';

/** Passages whose text is looked at, for each result and more: some are sorted out. About 30 µs each. */
const lookedPerHit = 1.25;
const lookedMore = 12;
/**
 * Characters read of the entries that are not yet indexed, newest first; so many of the newest are read however long they are. Not a
 * time: on a busy machine a search would find less.
 */
const maxScanned = 8_000_000;
const alwaysScanned = 500;
/** Characters of the entries that are kept for the next search. */
const mostKept = 1_000_000;
/** One entry gives at most so many, so that a long one does not hide the others. */
const maxPerEntry = 3;

const searchableTypes = `(${[...kindsWhere(({ isFound }) => isFound)].map((type) => `'${type}'`).join(', ')})`;

interface ScannedEntry {
  readonly entry: StoredEntry;
  readonly passages: () => readonly HistoryPassage[];
}

/** Entries that the index does not cover, as of a state of the database. */
interface Scanned {
  readonly at: string;
  readonly entries: readonly ScannedEntry[];
  readonly complete: boolean;
}

/** Full-text search: the index tells what it has counted, what it does not cover yet is scanned, and core/recall ranks both as one. */
export class SearchRows {
  constructor(
    private readonly connection: Connection,
    private readonly index: SearchIndex,
    private readonly entries: EntryRows,
    private readonly sessions: SessionRows,
    private readonly vectors: VectorRows,
  ) {}

  private scanned: Scanned | null = null;

  search(query: SearchQuery): SearchResult {
    const ranker = new PassageRanker<HistoryPassage>(query.text);
    const { terms } = ranker;
    const scope = new SearchScope(this.connection, this.sessions, this.entries, query);
    if (terms.length === 0) return { hits: [], terms, statistics: ranker.statistics, complete: true };
    const complete = this.addUnindexed(ranker, scope, query.whole === true);
    const { evidence, left, statistics, groups } = this.index.evidence(terms, ranker.exactTerms, scope);
    ranker.assume(statistics, groups);
    ranker.addEvidence(evidence, left);
    if (query.near) ranker.addMeant(this.vectors.nearest(query.near, scope));
    return { hits: this.hits(ranker, scope, query.limit), terms, statistics: ranker.statistics, complete };
  }

  /** Returns those of the entries that a search of every session finds. */
  untrashed(uuids: readonly string[]): string[] {
    const scope = new SearchScope(this.connection, this.sessions, this.entries, { text: '', limit: 0 });
    return this.entries.findAll(uuids).flatMap((entry) => (scope.contains(entry) ? entry.uuid : []));
  }

  /** Returns false when the bounds ended it. */
  private addUnindexed(ranker: PassageRanker<HistoryPassage>, scope: SearchScope, whole: boolean): boolean {
    const { entries, complete } = this.unindexed(scope, whole);
    const known = new Map<string, ReturnType<SearchIndex['session']>>();
    for (const { entry, passages: all } of entries) {
      if (!scope.contains(entry)) continue;
      if (!known.has(entry.session)) known.set(entry.session, this.index.session(entry.session));
      const { number = entry.session, passages = 0 } = known.get(entry.session) ?? {};
      const hidden = scope.matches(entry) ? {} : { hidden: true };
      ranker.add(
        all().map((passage) => ({ ...passage, group: number, ...hidden })),
        passages,
      );
    }
    return complete;
  }

  /**
   * What the index does not cover, the oldest first; where that is much, only what is in the scope. A compaction searches two dozen times
   * while nobody writes: it is read once.
   */
  private unindexed(scope: SearchScope, whole: boolean): Scanned {
    const at = this.connection.version;
    if (this.scanned?.at === at) return this.scanned;
    this.scanned = null;
    let read = 0;
    let characters = 0;
    let complete = true;
    const entries: ScannedEntry[] = [];
    const rows = this.connection.iterate(`${select} WHERE e.seq > ? AND e.entry_type IN ${searchableTypes} ORDER BY e.seq DESC`, [
      this.index.indexedThrough,
    ]);
    for (const row of rows) {
      if (!whole && ++read > alwaysScanned && characters > maxScanned) {
        complete = false;
        break;
      }
      const entry = this.entries.decode(row);
      characters += entryText(entry.content).length;
      if (characters > mostKept && !scope.contains(entry)) continue;
      let passages: readonly HistoryPassage[] | undefined;
      entries.push({ entry, passages: () => (passages ??= passagesOf(entry)) });
    }
    const scanned = { at, entries: entries.reverse(), complete };
    if (characters <= mostKept) this.scanned = scanned;
    return scanned;
  }

  private hits(ranker: PassageRanker<HistoryPassage>, scope: SearchScope, limit: number): SearchHit[] {
    const read = new Map<number, readonly HistoryPassage[]>();
    const known = new Map<string, Looked<HistoryPassage> | null>();
    // A place is looked at for itself and again for what stands beside it.
    const look = (group: string | number, position: number): Looked<HistoryPassage> | null => {
      const key = `${group} ${position}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      const found = lookAt(group, position);
      known.set(key, found);
      return found;
    };
    const lookAt = (group: string | number, position: number): Looked<HistoryPassage> | null => {
      const place = typeof group === 'number' ? this.index.place(group, position) : undefined;
      if (!place) return null;
      let passages = read.get(place.entry);
      if (!passages) {
        const entry = this.one('e.seq = ?', [place.entry]);
        passages = entry && scope.contains(entry) ? passagesOf(entry) : [];
        read.set(place.entry, passages);
      }
      const item = passages[place.part];
      return item ? { ...item, item, length: place.length, parts: place.parts } : null;
    };
    const hits: SearchHit[] = [];
    const names = new Map<string, { readonly id: string; readonly title: string }>();
    const perEntry = new Map<string, number>();
    const isFound = ({ entry }: HistoryPassage) => {
      const count = (perEntry.get(entry.uuid) ?? 0) + 1;
      perEntry.set(entry.uuid, count);
      return count <= maxPerEntry && scope.matches(entry);
    };
    for (const { item, score, beside, meant } of ranker.ranked(Math.ceil(limit * lookedPerHit) + lookedMore, look, isFound)) {
      if (hits.length >= limit) break;
      const { entry, start, length } = item;
      const session = scope.sessionOf(entry);
      const { id, title } = names.get(session) ?? this.sessions.find(session) ?? { id: session, title: '' };
      names.set(session, { id, title });
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
        beside: beside?.entry.seq ?? null,
        ...(meant ? { meant } : {}),
        dates: resolveDates(item.text, entry.createdAt).map(({ said, day }) => ({ said, day })),
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

export const searchOperations = {
  search: ({ searches }, query) => searches.search(query),
  untrashed: ({ searches }, uuids) => searches.untrashed(uuids),
} satisfies Partial<Operations<{ readonly searches: SearchRows }>>;
