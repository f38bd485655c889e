import {
  contextScores,
  inverseFrequency,
  mention,
  passageFactor,
  saturated,
  termWeights,
  withMeaning,
  type CorpusStatistics,
  type Evidence,
  type GroupStatistics,
  type Meant,
  type Placed,
  type TermWeights,
} from './contextScores';
import { exactTokens, hasToken, type ExactToken } from './exactTokens';
import { askedField, fields, fieldTexts, mostRepeats, type PassageText } from './passageFields';
import { chunksOf, fold, queryTerms, substringsOf, termsOfChunk, textLength } from './tokenizeTerms';
import { newestFirst, QueryCoverage, type Covered, type Version } from './versions';

/** A passage in memory. */
export interface Rankable extends PassageText {
  /** What its neighbours belong to: a session, a note, a file. They are added in their order, the oldest or first one first. */
  readonly group: string | number;
  /** Passages of what it is part of; 1 when that is not said. */
  readonly parts?: number;
  /** It gives to its neighbours and is not found itself. */
  readonly hidden?: boolean;
}

export interface Ranked<T> {
  readonly item: T;
  readonly score: number;
  /** The match that it stands beside, where it has no term of the query itself. */
  readonly beside: T | null;
  /** Neither it nor what it stands beside has a term: it is found by its meaning. */
  readonly meant: boolean;
}

/** What stands at a place, for a closer look. */
export interface Looked<T> extends PassageText {
  readonly item: T;
  readonly length: number;
  readonly parts: number;
}

/** A pasted page as a query: its first and last terms, or every passage would be compared with thousands. */
const maxTerms = 48;
/** Two words that follow each other in the query and stand in one sentence. Measured at 10: 0.2 of LoCoMo, 1.7 of BEAM. */
const pairShare = 0.2;
const seenCapacity = 20_000;
const maxSeen = 200;
const noTerms: readonly number[] = [];

/**
 * Ranks passages against one query, by `contextScores` and then, of the best, by a closer look at their text: pairs of words, versions of
 * one statement (the newest first), and tokens that mean themselves, which come before everything else.
 *
 * Passages come from memory (`add`) and as what an index has counted of them (`addEvidence`); both are ranked as one.
 */
export class PassageRanker<T extends Rankable> {
  readonly terms: readonly string[];
  /** Tokens that mean themselves. */
  readonly exact: readonly ExactToken[];
  private readonly termIndex: ReadonlyMap<string, number>;
  private readonly wanted: RegExp;
  private readonly wantsDates: boolean;
  private readonly evidence: Evidence[] = [];
  private readonly meant: Meant[] = [];
  private readonly items = new Map<string | number, { from: number; readonly items: T[]; length: number }>();
  private readonly seen = new Map<string, readonly number[]>();
  private readonly documentFrequency: number[];
  private readonly named: number[];
  private count = 0;
  private length = 0;
  private groups: GroupStatistics = { count: 0, length: 0, of: () => 0 };
  /** Terms that the evidence does not tell of: too frequent to be counted everywhere. */
  private left: ReadonlySet<number> = new Set();

  constructor(query: string) {
    this.terms = bounded(queryTerms(query));
    this.exact = exactTokens(query);
    this.termIndex = new Map(this.terms.map((term, i) => [term, i]));
    this.wanted = anyOf(substringsOf(this.terms));
    this.wantsDates = this.terms.some((term) => dateTerm.test(term));
    this.documentFrequency = this.terms.map(() => 0);
    this.named = this.terms.map(() => 0);
  }

  /** The terms of `exact`: texts with them come first. */
  get exactTerms(): ReadonlySet<number> {
    return new Set(this.exact.flatMap(({ text, terms }) => [text, ...terms].flatMap((term) => this.termIndex.get(term) ?? [])));
  }

  get statistics(): CorpusStatistics {
    return { count: this.count, length: this.length, documentFrequency: [...this.documentFrequency], named: [...this.named] };
  }

  /** Counts passages that are not added, or only as evidence. */
  assume({ count, length, documentFrequency, named }: CorpusStatistics, groups?: GroupStatistics): void {
    this.count += count;
    this.length += length;
    this.terms.forEach((_, t) => {
      this.documentFrequency[t] = (this.documentFrequency[t] ?? 0) + (documentFrequency[t] ?? 0);
      this.named[t] = (this.named[t] ?? 0) + (named[t] ?? 0);
    });
    if (groups) this.groups = groups;
  }

  /** Counted by an index, whose statistics are assumed. `left` are the terms that it has not counted. */
  addEvidence(evidence: Iterable<Evidence>, left: ReadonlySet<number> = new Set()): void {
    for (const one of evidence) this.evidence.push(one);
    this.left = left;
  }

  /** Places that are similar to the query in meaning, whatever words they have. */
  addMeant(meant: Iterable<Meant>): void {
    for (const one of meant) this.meant.push(one);
  }

  /** `from` is the place of the group's first passage in memory, behind those that an index has counted. */
  add(items: Iterable<T & Rankable>, from = 0): void {
    for (const item of items) {
      const group = this.items.get(item.group) ?? { from, items: [], length: 0 };
      if (group.items.length === 0) this.items.set(item.group, group);
      const length = textLength(item.text);
      const hits = this.hitsOf(item);
      if (hits) {
        this.evidence.push({
          group: item.group,
          position: group.from + group.items.length,
          length,
          parts: item.parts ?? 1,
          hits,
          hidden: item.hidden ?? false,
        });
        this.terms.forEach((_, t) => {
          const at = t * fields.length;
          if ([0, 1, 2, 3].some((field) => (hits[at + field] ?? 0) > 0)) this.documentFrequency[t] = (this.documentFrequency[t] ?? 0) + 1;
          if ((hits[at + 3] ?? 0) > 0) this.named[t] = (this.named[t] ?? 0) + 1;
        });
      }
      group.items.push(item);
      group.length += length;
      this.count++;
      this.length += length;
    }
  }

  /**
   * The best `most`, best first. `look` reads what stands at a place that is not in memory, null where nothing does; `isFound` leaves
   * out what is not asked for, and is asked about the best ones first.
   */
  ranked(
    most: number,
    look: (group: string | number, position: number) => Looked<T> | null = () => null,
    isFound: (item: T) => boolean = () => true,
  ): Ranked<T>[] {
    const weights = termWeights(this.terms, this.statistics);
    const read = (group: string | number, position: number) => this.inMemory(group, position) ?? look(group, position);
    const exact = this.exact.map(({ text, terms }) => ({
      whole: this.termIndex.get(text),
      parts: terms.flatMap((term) => this.termIndex.get(term) ?? []),
    }));
    const candidates = withMeaning(contextScores(weights, this.evidence, this.statistics, this.allGroups()), this.meant)
      .map((placed) => ({ placed, exact: exact.reduce((sum, token) => sum + this.likely(token, placed.evidence), 0) }))
      .sort((x, y) => score(y.placed) - score(x.placed) || y.placed.position - x.placed.position);
    const found = new Map<Placed, Found<T>>();
    const lookAt = (placed: Placed): boolean => {
      if (found.has(placed)) return true;
      if (placed.evidence?.hidden) return false;
      const looked = read(placed.group, placed.position);
      if (!looked || looked.text.trim() === '' || !isFound(looked.item)) return false;
      const factor = placed.evidence ? placed.factor : placed.factor * passageFactor(looked);
      const folded = this.exact.length === 0 ? '' : fold(looked.text.normalize('NFKC'));
      found.set(placed, { placed, factor, looked, sentences: this.sentences(looked), folded });
      return true;
    };
    // What seems to have a token need not have it, and must not keep what has the other words from being looked at.
    const seeming = candidates.filter((one) => one.exact > 0).sort((x, y) => y.exact - x.exact);
    for (const list of [seeming, candidates]) {
      let looked = 0;
      for (const { placed } of list) {
        if (looked >= most) break;
        if (lookAt(placed)) looked++;
      }
    }
    return this.closer([...found.values()], weights, read).slice(0, most);
  }

  private closer(
    found: readonly Found<T>[],
    weights: TermWeights,
    read: (group: string | number, position: number) => Looked<T> | null,
  ): Ranked<T>[] {
    const { count } = this.statistics;
    // Whoever speaks says nothing by being named.
    const asked = weights.weights.map((weight, t) => (weights.speakers.includes(t) ? 0 : weight));
    const coverage = new QueryCoverage(this.terms);
    const pairs = this.terms.slice(1).flatMap((_, t) => {
      const having = found.filter(({ sentences }) => sentences.some(({ terms }) => terms.has(t) && terms.has(t + 1))).length;
      return having === 0 ? [] : [{ first: t, worth: pairShare * inverseFrequency(having, count) }];
    });
    const places = new Map(found.map((one) => [`${one.placed.group} ${one.placed.position}`, one.sentences]));
    const asking = new Set(this.evidence.filter(asksOf).map(({ group, position }) => `${group} ${position}`));
    const askedBefore = ({ group, position }: Placed) => {
      const known = places.get(`${group} ${position - 1}`);
      const before = known ?? (asking.has(`${group} ${position - 1}`) ? read(group, position - 1) : null);
      const sentences = known ?? (before && 'text' in before ? this.sentences(before) : []);
      return sentences.filter(({ asks }) => asks);
    };
    const ranked = found.map(({ placed, factor, looked, sentences, folded }) => {
      let sum = placed.sum;
      for (const { first, worth } of pairs) if (sentences.some(({ terms }) => terms.has(first) && terms.has(first + 1))) sum += worth;
      for (const term of this.left) {
        if (countedIn(placed.evidence, term)) continue;
        const times = sentences.reduce((total, { terms }) => total + (terms.get(term) ?? 0), 0);
        if (times > 0) sum += (weights.weights[term] ?? 0) * saturated(times * mention(looked.length, this.statistics));
      }
      const answered = sentences.length > 0 && sentences.every(({ asks }) => asks) ? [] : askedBefore(placed);
      return {
        item: looked.item,
        at: looked.at,
        text: looked.text,
        score: sum * factor,
        sentences,
        stated: [...sentences.filter(({ asks }) => !asks), ...answered],
        exact: this.exact.filter((token) => hasToken(folded, token)).length,
        beside: placed.evidence || isMeant(placed) ? null : (read(placed.group, placed.beside)?.item ?? null),
        meant: isMeant(placed),
      };
    });
    ranked.sort((x, y) => y.score - x.score || (y.at ?? 0) - (x.at ?? 0));
    const covered = (sentences: readonly Sentence[]) =>
      coverage.most(
        sentences.map(({ terms }) => [...terms.keys()]),
        asked,
      );
    return newestFirst(withoutRepeats(ranked, covered), asked.filter((weight) => weight > 0).length)
      .sort((x, y) => y.exact - x.exact)
      .map(({ item, score, beside, meant }) => ({ item, score, beside, meant }));
  }

  /**
   * How likely a text has a token: 1 where its evidence has it as a whole, less where it has the parts, as `src/a.ts` in `src/a.ts:12`.
   * Parts that were not counted everywhere may be there.
   */
  private likely({ whole, parts }: { readonly whole: number | undefined; readonly parts: readonly number[] }, evidence: Evidence | null) {
    if (!evidence) return 0;
    if (whole !== undefined && standsIn(evidence, whole)) return 1;
    const had = parts.filter((part) => standsIn(evidence, part)).length;
    const isPossible = parts.every((part) => part === whole || this.left.has(part) || standsIn(evidence, part));
    return isPossible ? had / Math.max(1, parts.length) : 0;
  }

  private inMemory(group: string | number, position: number): Looked<T> | null {
    const known = this.items.get(group);
    const item = known?.items[position - known.from];
    if (!item) return null;
    return { item, text: item.text, at: item.at, opens: item.opens ?? false, length: textLength(item.text), parts: item.parts ?? 1 };
  }

  private allGroups(): GroupStatistics {
    const { of, count, length } = this.groups;
    let [more, added] = [0, 0];
    for (const [group, one] of this.items) {
      if (of(group) === 0) more++;
      added += one.length;
    }
    return { count: count + more, length: length + added, of: (group) => of(group) + (this.items.get(group)?.length ?? 0) };
  }

  /** The sentences of a passage that have a term of the query. */
  private sentences({ text, opens }: PassageText): Sentence[] {
    return fieldTexts({ text, at: null, ...(opens === undefined ? {} : { opens }) }).flatMap(([field, sentence]) => {
      const terms = this.countIn(sentence);
      return terms.size === 0 ? [] : [{ text: sentence.trim(), terms, asks: field === askedField }];
    });
  }

  private countIn(part: string): Map<number, number> {
    const terms = new Map<number, number>();
    const normal = part.normalize('NFKC');
    const folded = fold(normal);
    if (folded.search(this.wanted) === -1) return terms;
    for (const chunk of chunksOf(this.stretches(normal, folded)))
      for (const term of this.termsIn(chunk)) terms.set(term, (terms.get(term) ?? 0) + 1);
    return terms;
  }

  /** What stands between white space around the letters of a term: no term reaches over it, and of long lines that is little. */
  private stretches(normal: string, folded: string): string {
    if (folded.length !== normal.length || shifting.test(normal)) return normal;
    const found: string[] = [];
    const wanted = new RegExp(this.wanted, 'g');
    for (let match = wanted.exec(folded); match; match = wanted.exec(folded)) {
      let start = match.index;
      let end = match.index + Math.max(1, match[0].length);
      while (start > 0 && !isSpace(normal.charCodeAt(start - 1))) start--;
      while (end < normal.length && !isSpace(normal.charCodeAt(end))) end++;
      found.push(normal.slice(start, end));
      wanted.lastIndex = end;
    }
    return found.join(' ');
  }

  private hitsOf(passage: PassageText): Uint16Array | null {
    if (!this.wantsDates && fold(passage.text.normalize('NFKC')).search(this.wanted) === -1) return null;
    let hits: Uint16Array | null = null;
    for (const [field, part] of fieldTexts(passage, this.wantsDates)) {
      for (const [term, times] of this.countIn(part)) {
        hits ??= new Uint16Array(this.terms.length * fields.length);
        const at = term * fields.length + field;
        hits[at] = Math.min(mostRepeats[field] ?? 1, (hits[at] ?? 0) + times);
      }
    }
    return hits;
  }

  /** Text repeats itself: with the chunks seen before kept, ranking 70 MB of code takes an eighth of the time. */
  private termsIn(chunk: string): readonly number[] {
    const known = this.seen.get(chunk);
    if (known) return known;
    // Most words of a text have no term of the query, and to look for its letters costs a tenth of taking a word apart.
    const indices =
      fold(chunk).search(this.wanted) === -1 ? noTerms : termsOfChunk(chunk).flatMap((term) => this.termIndex.get(term) ?? []);
    if (this.seen.size >= seenCapacity) this.seen.clear();
    if (chunk.length <= maxSeen) this.seen.set(chunk, indices.length === 0 ? noTerms : indices);
    return indices;
  }
}

interface Sentence {
  readonly text: string;
  /** How often each term is in it. */
  readonly terms: ReadonlyMap<number, number>;
  readonly asks: boolean;
}

interface Found<T> {
  readonly placed: Placed;
  readonly factor: number;
  readonly looked: Looked<T>;
  readonly sentences: readonly Sentence[];
  readonly folded: string;
}

/** Words of a day: `2026`, `2026-11`, `20`, `novemb`, `fridai`. */
const dateTerm =
  /^(?:\d{1,4}(?:-\d{2}){0,2}|\d{1,2}th|\p{Script=Han}{1,2}|(?:jan|feb|mar|apr|mai|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)[a-z]*)$/u;

/** What a passage keeps of its score when all that it says of what was asked has been said, word for word, by better ones. */
const repeatShare = 0.5;
/** A sentence that has all of the query raises its passage by this; the share is squared, so that half of it is worth a quarter. */
const togetherShare = 0.2;
/** "Thanks, Mira!" is said again without saying anything again. */
const shortestRepeat = 24;

interface Weighed {
  readonly text: string;
  readonly at: number | null;
  readonly score: number;
  readonly sentences: readonly Sentence[];
  /** It has these sentences that ask nothing, and these questions that it may answer. */
  readonly stated: readonly Sentence[];
}

/**
 * What is said again and again sinks below what is said once: a passage is worth what its sentences cover that no better one has. A text
 * that is there already is left out. Takes and returns the best first.
 */
function withoutRepeats<S extends Weighed>(ranked: readonly S[], covered: (sentences: readonly Sentence[]) => Covered): (S & Version)[] {
  const seen = new Set<string>();
  const texts = new Set<string>();
  const weighed = ranked.flatMap((one) => {
    const text = one.text.trim();
    if (texts.has(text)) return [];
    texts.add(text);
    const isNew = (sentence: Sentence) => sentence.text.length < shortestRepeat || !seen.has(sentence.text);
    const fresh = one.sentences.filter(isNew);
    const stated = covered(one.stated.filter((sentence) => sentence.asks || isNew(sentence)));
    for (const sentence of one.sentences) seen.add(sentence.text);
    if (fresh.length === one.sentences.length) return [{ ...one, ...stated }];
    const share = covered(fresh).said / Math.max(covered(one.sentences).said, Number.MIN_VALUE);
    return [{ ...one, ...stated, score: one.score * (repeatShare + (1 - repeatShare) * share) }];
  });
  return weighed.map((one) => ({ ...one, score: one.score * (1 + togetherShare * one.said ** 2) })).sort((x, y) => y.score - x.score);
}

/** Tells whether a term of the query stands in a question of the passage. */
function asksOf({ hits }: Evidence): boolean {
  for (let at = askedField; at < hits.length; at += fields.length) if ((hits[at] ?? 0) > 0) return true;
  return false;
}

function standsIn({ hits }: Evidence, term: number): boolean {
  return [0, 1, 2].some((field) => (hits[term * fields.length + field] ?? 0) > 0);
}

/** Tells whether the score of a place has a term already. */
function countedIn(evidence: Evidence | null, term: number): boolean {
  return evidence !== null && fields.some((_, field) => (evidence.hits[term * fields.length + field] ?? 0) > 0);
}

/** Characters whose fold has another length; without them a text and its fold have the same offsets. */
const shifting = /[ßẞæÆœŒİ\u0300-\u036f]/;

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isMeant({ evidence, position, beside }: Placed): boolean {
  return evidence === null && beside === position;
}

function score({ sum, factor }: Placed): number {
  return sum * factor;
}

function bounded(terms: readonly string[]): readonly string[] {
  return terms.length <= maxTerms ? terms : [...terms.slice(0, maxTerms / 2), ...terms.slice(-maxTerms / 2)];
}

/** Any of the folded substrings. */
function anyOf(substrings: readonly string[]): RegExp {
  return new RegExp(substrings.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|') || '(?!)');
}

export function rankPassages<T extends Rankable>(query: string, items: Iterable<T>): Ranked<T>[] {
  const ranker = new PassageRanker<T>(query);
  ranker.add(items);
  return ranker.ranked(Number.MAX_SAFE_INTEGER);
}
