import { CancelledError, errorText } from '../errors';
import { shown, t } from '../l10n';
import type { MemoryNotes, Passage, SessionStore, WorkspaceText } from '../ports';
import type { SearchHit } from '../session/searchQuery';
import { timeText } from '../recall/dateText';
import { PassageRanker, type Rankable, type Ranked } from '../recall/rankPassages';
import { splitPassages } from '../recall/splitText';
import { queryTerms, substringsOf } from '../recall/tokenizeTerms';

export interface SearchSources {
  readonly store: Pick<SessionStore, 'search'>;
  readonly notes: Pick<MemoryNotes, 'list' | 'read'>;
  /** Null where no folder is open. */
  readonly files: WorkspaceText | null;
}

export interface FoundPassage extends Passage {
  /** Who said it, for history. */
  readonly speaker: string | null;
  /** Why it is here, where it has none of the words: what it stands beside (`#12` in the history, null elsewhere), or what it means. */
  readonly found: 'words' | 'meaning' | { readonly beside: string | null };
}

export interface WorkspaceSearch {
  /** Best first. */
  readonly found: readonly FoundPassage[];
  readonly terms: readonly string[];
  /** What could not be searched, in words for the user. */
  readonly problems: readonly string[];
}

export interface WorkspaceQuery {
  readonly text: string;
  readonly limit: number;
  /** Hits that are not an answer, for example the question itself. */
  readonly skip: (hit: SearchHit) => boolean;
}

/** One entry, note or file gives at most so many. */
const maxPerSource = 2;
const maxFilePassages = 400;
const maxNotes = 500;

/** What is asked of the history for each passage that is wanted: equal texts and questions are sorted out. */
const hitsPerPassage = 5;

type Candidate = Passage & Rankable & Pick<FoundPassage, 'speaker'> & { readonly hit?: SearchHit };

/**
 * The history as the store ranks it, notes and files beside it by the same measure, one list by score. A source that cannot be read
 * is named in `problems`; rejects only with `CancelledError`.
 */
export async function searchWorkspace(
  { store, notes, files }: SearchSources,
  { text, limit, skip }: WorkspaceQuery,
  signal: AbortSignal,
): Promise<WorkspaceSearch> {
  const ranker = new PassageRanker<Candidate>(text);
  const { terms } = ranker;
  const problems: string[] = [];
  const source = async (failed: (reason: string) => string, read: () => Promise<void>) => {
    if (signal.aborted) throw new CancelledError();
    try {
      await read();
    } catch (error) {
      if (CancelledError.is(error) || signal.aborted) throw new CancelledError();
      problems.push(failed(shown(errorText(error))));
    }
  };
  if (terms.length === 0) return { found: [], terms, problems };

  const ranked: Ranked<Candidate>[] = [];
  const skipped = new Set<number>();
  await source(
    (reason) => t('The history could not be searched: {0}', reason),
    async () => {
      const { hits, statistics, complete } = await store.search({ text, limit: hitsPerPassage * limit, byMeaning: true });
      ranker.assume(statistics);
      for (const hit of hits) if (skip(hit)) skipped.add(hit.seq);
      for (const hit of hits)
        if (!skipped.has(hit.seq)) ranked.push({ item: fromHistory(hit), score: hit.score, beside: null, meant: false });
      if (!complete) problems.push(t('Not all of the history was searched: it is still being indexed.'));
    },
  );
  await source(
    (reason) => t('The notes could not be searched: {0}', reason),
    async () => {
      for (const note of (await notes.list()).slice(0, maxNotes)) {
        if (signal.aborted) throw new CancelledError();
        const content = await notes.read(note.path).catch(() => undefined);
        if (content !== undefined) ranker.add(passagesOfNote(note.path, content, note.modifiedAt));
      }
    },
  );
  await source(
    (reason) => t('The files of the workspace could not be searched: {0}', reason),
    async () => {
      const passages = (await files?.candidates(substringsOf(terms), maxFilePassages, signal)) ?? [];
      ranker.add(passages.map((passage) => ({ ...passage, speaker: null, group: `file:${passage.id}` })));
    },
  );

  if (signal.aborted) throw new CancelledError();
  // The order of the hits stands: it is not by score alone.
  const others = descriptionsBehind(ranker.ranked(maxFilePassages));
  const carried = new Set(others.filter(({ beside }) => beside !== null).map(({ item }) => item));
  const found = pick(distinct(merge(ranked, others), terms), limit).map(
    (item): FoundPassage => ({
      source: item.source,
      id: item.id,
      title: item.title,
      text: item.text,
      at: item.at,
      speaker: item.speaker,
      found: item.hit ? howFound(item.hit, skipped) : carried.has(item) ? { beside: null } : 'words',
    }),
  );
  return { found, terms, problems };
}

/** It names everything that is in the files beside it, and says least of it. */
const isDescription = /^file:(?:.*\/)?(?:readme|changelog|contributing|license)(?:[.\-_][^/]*)?$/i;
/** So that a README comes first only where it says clearly more than what it tells of. */
const descriptionShare = 0.6;

/** All others keep their order. */
function descriptionsBehind(ranked: readonly Ranked<Candidate>[]): Ranked<Candidate>[] {
  const order = ranked.filter(({ item }) => !isDescription.test(String(item.group)));
  for (const one of ranked) {
    if (!isDescription.test(String(one.item.group))) continue;
    const score = one.score * descriptionShare;
    const at = order.findIndex((other) => other.score < score);
    order.splice(at < 0 ? order.length : at, 0, { ...one, score });
  }
  return order;
}

/** Two lists into one by score, each in its own order. */
function merge(first: readonly Ranked<Candidate>[], second: readonly Ranked<Candidate>[]): Candidate[] {
  const merged: Candidate[] = [];
  let [i, j] = [0, 0];
  for (let one = first[i], other = second[j]; one || other; one = first[i], other = second[j]) {
    if (one && (!other || one.score >= other.score)) merged.push((i++, one.item));
    else if (other) merged.push((j++, other.item));
  }
  return merged;
}

/** Leaves out equal texts, the question itself, and more than a few of one source; it is lazy because the list may be long. */
function* distinct(ranked: readonly Candidate[], terms: readonly string[]): Generator<Candidate> {
  const perSource = new Map<string, number>();
  const seen = new Set<string>();
  for (const item of ranked) {
    const id = `${item.source}:${item.id}`;
    const text = item.text.trim();
    if (text === '' || seen.has(text) || (perSource.get(id) ?? 0) >= maxPerSource || isTheQuestion(item, terms)) continue;
    seen.add(text);
    perSource.set(id, (perSource.get(id) ?? 0) + 1);
    yield item;
  }
}

/** Takes at most half of one kind while there are others: a word of the question stands in many files and in one answer. */
function pick(ranked: Iterable<Candidate>, limit: number): Candidate[] {
  const chosen: { item: Candidate; rank: number }[] = [];
  const spare: { item: Candidate; rank: number }[] = [];
  const perKind = new Map<string, number>();
  let rank = 0;
  for (const item of ranked) {
    const count = perKind.get(item.source) ?? 0;
    if (count < limit / 2) chosen.push({ item, rank: rank++ });
    else if (spare.length < limit) spare.push({ item, rank: rank++ });
    perKind.set(item.source, count + 1);
    if (chosen.length >= limit) break;
  }
  return [...chosen, ...spare.slice(0, limit - chosen.length)].sort((x, y) => x.rank - y.rank).map(({ item }) => item);
}

/** Asked before, in other words or another order: it has the highest score and answers nothing. */
function isTheQuestion({ hit }: Candidate, terms: readonly string[]): boolean {
  if (hit?.role !== 'user' || hit.length > 500) return false;
  const own = queryTerms(hit.text);
  return own.length === terms.length && own.every((term) => terms.includes(term));
}

function passagesOfNote(path: string, content: string, modifiedAt: number): Candidate[] {
  return splitPassages(content).map(({ start, end }) => ({
    source: 'note',
    id: path,
    title: path,
    text: content.slice(start, end),
    at: modifiedAt,
    speaker: null,
    group: `note:${path}`,
  }));
}

/** What was skipped is not shown, so it is not named either. */
function howFound({ beside, meant }: SearchHit, skipped: ReadonlySet<number>): FoundPassage['found'] {
  return beside !== null ? { beside: skipped.has(beside) ? null : `#${beside}` } : meant ? 'meaning' : 'words';
}

function fromHistory(hit: SearchHit): Candidate {
  return {
    source: 'history',
    id: hit.entry,
    title: `${hit.sessionTitle.trim() || hit.sessionId}, ${timeText(hit.at)}`,
    text: hit.text,
    at: hit.at,
    speaker: hit.speaker,
    group: hit.session,
    hit,
  };
}
