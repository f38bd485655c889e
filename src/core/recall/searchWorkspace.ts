import { CancelledError, errorText } from '../errors';
import type { MemoryNotes, Passage, SessionStore, WorkspaceText } from '../ports';
import { entryText, type StoredEntry } from '../session/entry';
import { timeText } from './dateText';
import { historyPassages, speaker, type HistoryPassage, type SearchBounds } from './history';
import { PassageRanker, type Rankable } from './rankPassages';
import { splitPassages } from './splitPassages';
import { queryTerms, substringsOf } from './tokenizeTerms';

export interface SearchSources {
  readonly store: Pick<SessionStore, 'scan' | 'session' | 'entries'>;
  readonly notes: Pick<MemoryNotes, 'list' | 'read'>;
  /** Null where no folder is open. */
  readonly files: WorkspaceText | null;
  readonly bounds?: SearchBounds;
}

export interface FoundPassage extends Passage {
  /** Who said it, for history. */
  readonly speaker: string | null;
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
  /** Entries that are not an answer, for example the question itself. */
  readonly skip: (entry: StoredEntry) => boolean;
}

/** From one entry, note or file. */
const maxPerSource = 2;
const maxFilePassages = 400;
const maxNotes = 500;

type Candidate = Rankable & (Passage | { readonly source: 'history'; readonly passage: HistoryPassage });

/**
 * One ranking over every conversation of the store, the notes and the files. A source that cannot be read is named in
 * `problems`; rejects only with `CancelledError`.
 */
export async function searchWorkspace({ store, notes, files, bounds }: SearchSources, { text, limit, skip }: WorkspaceQuery, signal: AbortSignal): Promise<WorkspaceSearch> {
  const ranker = new PassageRanker<Candidate>(text);
  const { terms } = ranker;
  const problems: string[] = [];
  const source = async (name: string, read: () => Promise<void>) => {
    if (signal.aborted) throw new CancelledError();
    try {
      await read();
    } catch (error) {
      if (CancelledError.is(error) || signal.aborted) throw new CancelledError();
      problems.push(`${name} could not be searched (${errorText(error)}).`);
    }
  };
  if (terms.length === 0) return { found: [], terms, problems };

  await source('The history', async () => {
    for await (const { passages, searched, complete } of historyPassages(store, bounds ? { bounds } : {}, signal)) {
      ranker.add(passages.filter(({ entry }) => !skip(entry)).map((passage) => ({ source: 'history', passage, text: passage.text, group: passage.group, at: passage.at })));
      if (!complete) problems.push(`Only the newest ${searched} entries of the history were searched.`);
    }
  });
  await source('The notes', async () => {
    for (const note of (await notes.list()).slice(0, maxNotes)) {
      if (signal.aborted) throw new CancelledError();
      const content = await notes.read(note.path).catch(() => undefined);
      if (content !== undefined) ranker.add(passagesOfNote(note.path, content, note.modifiedAt));
    }
  });
  await source('The workspace files', async () => {
    const passages = (await files?.candidates(substringsOf(terms), maxFilePassages, signal)) ?? [];
    ranker.add(passages.map((passage) => ({ ...passage, group: `file:${passage.id}` })));
  });

  const best = pick(distinct(ranker.ranked().map(({ item }) => item), terms), limit);
  const titles = new Map<string, string>();
  const found: FoundPassage[] = [];
  for (const item of best) {
    found.push('passage' in item ? await fromHistory(store, item.passage, titles) : { source: item.source, id: item.id, title: item.title, text: item.text, at: item.at, speaker: null });
  }
  return { found, terms, problems };
}

/** Without equal texts, the question itself, and more than a few of one source; lazily, the list may be long. */
function* distinct(ranked: readonly Candidate[], terms: readonly string[]): Generator<Candidate> {
  const perSource = new Map<string, number>();
  const seen = new Set<string>();
  for (const item of ranked) {
    const id = 'passage' in item ? item.passage.entry.uuid : `${item.source}:${item.id}`;
    const text = item.text.trim();
    if (text === '' || seen.has(text) || (perSource.get(id) ?? 0) >= maxPerSource || isTheQuestion(item, terms)) continue;
    seen.add(text);
    perSource.set(id, (perSource.get(id) ?? 0) + 1);
    yield item;
  }
}

/** At most half of one kind while there are others: a word of the question stands in many files and in one answer. */
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
function isTheQuestion(item: Candidate, terms: readonly string[]): boolean {
  if (!('passage' in item)) return false;
  const { content } = item.passage.entry;
  if (content.type !== 'message' || content.role !== 'user' || content.text.length > 500) return false;
  const own = queryTerms(entryText(content));
  return own.length === terms.length && own.every((term) => terms.includes(term));
}

function passagesOfNote(path: string, content: string, modifiedAt: number): Candidate[] {
  return splitPassages(content).map(({ start, end }) => ({
    source: 'note',
    id: path,
    title: path,
    text: content.slice(start, end),
    at: modifiedAt,
    group: `note:${path}`,
  }));
}

async function fromHistory(store: SearchSources['store'], { entry, text }: HistoryPassage, titles: Map<string, string>): Promise<FoundPassage> {
  if (!titles.has(entry.session)) {
    const session = await store.session(entry.session).catch(() => undefined);
    titles.set(entry.session, session?.title.trim() || session?.id || entry.session);
  }
  return {
    source: 'history',
    id: entry.uuid,
    title: `${titles.get(entry.session) ?? entry.session}, ${timeText(entry.createdAt)}`,
    text,
    at: entry.createdAt,
    speaker: speaker(entry.content),
  };
}
