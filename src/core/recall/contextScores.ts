import { askedField, datedField, fields, namedField, saidField } from './passageFields';
import { frameTerms } from './wordForms';

/** How often each term of a query stands in the fields of a passage: term t, field f at `t · 4 + f`. */
export type Hits = ArrayLike<number>;

/** What ranking needs of a passage with a term of the query. */
export interface Evidence {
  /** What its neighbours belong to: a session, a note, a file. */
  readonly group: string | number;
  /** Its place in the group: neighbours are one apart. */
  readonly position: number;
  /** As `textLength` counts. */
  readonly length: number;
  /** Passages of the entry it is from. */
  readonly parts: number;
  readonly hits: Hits;
  /** It gives to its neighbours and is not found itself. */
  readonly hidden?: boolean;
}

/** What is counted of all passages, those without a hit included. */
export interface CorpusStatistics {
  readonly count: number;
  /** The sum of all lengths. */
  readonly length: number;
  /** Passages that have each term of the query, in the order of its terms; `named` only those that somebody of that name has said. */
  readonly documentFrequency: readonly number[];
  readonly named: readonly number[];
}

/** Groups: how many there are, and the length of each. */
export interface GroupStatistics {
  readonly count: number;
  readonly length: number;
  readonly of: (group: string | number) => number;
}

/** A place in a group with its score. `evidence` is null where the place itself has no term: its neighbours speak for it. */
export interface Placed {
  readonly group: string | number;
  readonly position: number;
  readonly evidence: Evidence | null;
  /** The score is `sum · factor`: what a closer look adds, it adds to the sum. */
  readonly sum: number;
  readonly factor: number;
  /** The neighbour that gives most to a place without a term; the place itself where it is found by its meaning alone. */
  readonly beside: number;
}

/** A place that an embedding model finds similar to the query. */
export interface Meant {
  readonly group: string | number;
  readonly position: number;
  /** 1 for the most similar one, 0 for what is similar by chance. */
  readonly share: number;
}

/**
 * Measured on half of LoCoMo (5 conversations, 997 questions; R@10) and BEAM-100K: what each part is worth, as the share of evidence
 * that is no longer among the first ten without it.
 */
const worth = {
  /** Okapi BM25. */
  k1: 1.2,
  b: 0.6,
  /** What a passage is given of those one and two beside it, before it saturates; summing scores instead costs 1.4 / 2.4. */
  beside: 0.3,
  twoBeside: 0.2,
  /** A question gives this much to what comes next, in place of `beside`: 1.8 / 0. */
  answer: 1,
  /** A hit in the day of a passage, or in one that it names relative to it: 0.7 and 0.5. */
  dated: 0.6,
  /** The name of who said it is as good as half a mention. */
  named: 0.5,
  /** A name that many things are said under tells little: 0.6 / 0. */
  speaker: 0.3,
  /** "What kind of … did she mention": 0.3 / 0.7. */
  frame: 0.5,
  /** The best group's passages are raised by so much: 1.4 / 1.0. */
  group: 0.6,
  groupDated: 0.3,
  /** "Wow, thanks!" sinks: 0.6 / −1.6. Information is taken for a bit in three characters: the sum of the idf of its terms is no better. */
  information: 3,
  characters: 3,
  /** Long answers have something of everything: 0 / 10.2. */
  parts: 0.3,
  /** The speaker is the only one of two people whom the question names: worth 1.6 / 0. */
  onlySpeaker: 1.2,
  /**
   * The most similar passage in meaning is raised by this much of the best score that words give. Words find more than a model alone (82
   * against 66 at 10), so they have the greater share.
   */
  meant: 0.5,
} as const;

/** A term is somebody's name where so many passages, and this share of those that have it, are said under it. */
const fewestNamed = 5;
const shareNamed = 0.3;

const stride = fields.length;

/** Robertson and Spärck Jones, never below 0. */
export function inverseFrequency(documentFrequency: number, count: number): number {
  return Math.log(1 + Math.max(0, count - documentFrequency + 0.5) / (documentFrequency + 0.5));
}

/** What a term's frequency is worth. */
export function saturated(frequency: number): number {
  return (frequency * (worth.k1 + 1)) / (frequency + worth.k1);
}

/** What one mention counts in a passage of a length; longer ones have more by chance. */
export function mention(length: number, { count, length: total }: CorpusStatistics): number {
  return 1 / (1 - worth.b + (worth.b * length * Math.max(1, count)) / Math.max(1, total));
}

export interface TermWeights {
  /** Inverse frequency, times `shares`. */
  readonly weights: readonly number[];
  /** Below 1 for names and for words that only frame a question. */
  readonly shares: readonly number[];
  /** Terms that are names of those who speak. */
  readonly speakers: readonly number[];
}

export function termWeights(terms: readonly string[], { count, documentFrequency, named }: CorpusStatistics): TermWeights {
  const frequency = (term: number) => documentFrequency[term] ?? 0;
  const speakers = terms.flatMap((_, term) => {
    const times = named[term] ?? 0;
    return times >= fewestNamed && times >= shareNamed * frequency(term) ? [term] : [];
  });
  const shares = terms.map((term, t) => (speakers.includes(t) ? worth.speaker : frameTerms.has(term) ? worth.frame : 1));
  const weights = shares.map((share, t) => share * inverseFrequency(Math.min(count, frequency(t)), count));
  return { weights, shares, speakers };
}

/**
 * Scores every place that has a term of the query or stands within two of one that has. BM25 over fields, with the neighbours' mentions
 * added *before* they saturate; raised by the group, lowered for what says little and for parts of long entries. Its source:
 * measurements on LoCoMo and BEAM, where it finds 82 % of the evidence among the first ten (plain BM25 60 %, a dense retriever 66 %).
 */
export function contextScores(
  { weights, shares, speakers }: TermWeights,
  evidence: readonly Evidence[],
  corpus: CorpusStatistics,
  groups: GroupStatistics,
): Placed[] {
  const byGroup = new Map<string | number, Evidence[]>();
  for (const one of evidence) {
    const known = byGroup.get(one.group);
    if (known) known.push(one);
    else byGroup.set(one.group, [one]);
  }
  const raised = groupScores(shares, byGroup, groups);
  const only = speakers.length === 1 ? speakers[0] : undefined;
  const placed: Placed[] = [];
  for (const [group, members] of byGroup) {
    const factor = 1 + worth.group * (raised.get(group) ?? 0);
    const place = new Map(members.map((one) => [one.position, countsOf(one, weights.length, mention(one.length, corpus))]));
    const positions = new Set(members.flatMap(({ position: p }) => [p - 2, p - 1, p, p + 1, p + 2]));
    const own = new Map(members.map((one) => [one.position, one]));
    for (const position of positions) {
      const { sum, beside } = sumOf(position, place, weights);
      if (sum <= 0 || position < 0) continue;
      const one = own.get(position) ?? null;
      const named = one && only !== undefined && (one.hits[only * stride + namedField] ?? 0) > 0 ? worth.onlySpeaker : 1;
      placed.push({ group, position, evidence: one, sum, factor: factor * named * (one ? passageFactor(one) : 1), beside });
    }
  }
  return placed;
}

/**
 * Words and meaning as one: a share of the best score is added, so that what only one of the two finds is found, and what both find stands
 * first. What words rank high stays high whatever a model makes of it.
 */
export function withMeaning(placed: readonly Placed[], meant: readonly Meant[]): Placed[] {
  if (meant.length === 0) return [...placed];
  const best = placed.reduce((most, { sum, factor }) => Math.max(most, sum * factor), 0) || 1;
  const left = new Map(meant.map((one) => [`${one.group} ${one.position}`, one]));
  const raised = placed.map((place) => {
    const key = `${place.group} ${place.position}`;
    const share = left.get(key)?.share;
    if (share === undefined) return place;
    left.delete(key);
    return { ...place, sum: place.sum + (worth.meant * best * share) / place.factor };
  });
  for (const { group, position, share } of left.values())
    raised.push({ group, position, evidence: null, sum: worth.meant * best * share, factor: 1, beside: position });
  return raised;
}

/** What a passage's score is multiplied by for what it is, whatever it was asked for. */
export function passageFactor({ length, parts }: Pick<Evidence, 'length' | 'parts'>): number {
  const information = length / worth.characters;
  return information / (information + worth.information) / (1 + worth.parts * Math.log(Math.max(1, parts)));
}

/** Mentions by term, relative to the passage's length: those of its own, and among them those in sentences that ask. */
interface Counts {
  readonly own: Float64Array;
  readonly asked: Float64Array;
}

function countsOf({ hits }: Evidence, terms: number, unit: number): Counts {
  const own = new Float64Array(terms);
  const asked = new Float64Array(terms);
  for (let t = 0; t < terms; t++) {
    const at = t * stride;
    const questions = hits[at + askedField] ?? 0;
    own[t] =
      unit *
      ((hits[at + saidField] ?? 0) + questions + worth.dated * (hits[at + datedField] ?? 0) + worth.named * (hits[at + namedField] ?? 0));
    asked[t] = unit * questions;
  }
  return { own, asked };
}

function sumOf(
  position: number,
  place: ReadonlyMap<number, Counts>,
  weights: readonly number[],
): { readonly sum: number; readonly beside: number } {
  const here = place.get(position);
  const neighbours = ([-1, 1, -2, 2] as const).flatMap((offset) => {
    const counts = place.get(position + offset);
    return counts ? [{ offset, counts, given: 0 }] : [];
  });
  let sum = 0;
  for (let t = 0; t < weights.length; t++) {
    const weight = weights[t] ?? 0;
    let mentions = here?.own[t] ?? 0;
    for (const one of neighbours) {
      const own = one.counts.own[t] ?? 0;
      if (own === 0) continue;
      const asked = one.offset === -1 ? (one.counts.asked[t] ?? 0) : 0;
      const share = Math.abs(one.offset) === 1 ? worth.beside : worth.twoBeside;
      const given = share * (own - asked) + worth.answer * asked;
      one.given += weight * given;
      mentions += given;
    }
    if (mentions > 0) sum += weight * saturated(mentions);
  }
  const most = neighbours.reduce((best, one) => (one.given > best.given ? one : best), { offset: 0, given: 0 });
  return { sum, beside: position + most.offset };
}

/** BM25 of each group as one document, as a share of the best. */
function groupScores(
  shares: readonly number[],
  byGroup: ReadonlyMap<string | number, readonly Evidence[]>,
  groups: GroupStatistics,
): Map<string | number, number> {
  const counts = [...byGroup].map(([group, members]) => {
    const mentions = new Float64Array(shares.length);
    for (const { hits } of members) {
      for (let t = 0; t < shares.length; t++) {
        const at = t * stride;
        mentions[t] =
          (mentions[t] ?? 0) +
          (hits[at + saidField] ?? 0) +
          (hits[at + askedField] ?? 0) +
          worth.groupDated * (hits[at + datedField] ?? 0) +
          worth.named * (hits[at + namedField] ?? 0);
      }
    }
    return { group, mentions };
  });
  const frequency = shares.map((_, t) => counts.filter(({ mentions }) => (mentions[t] ?? 0) > 0).length);
  const total = Math.max(groups.count, counts.length);
  const scores = counts.map(({ group, mentions }) => {
    const unit = mention(groups.of(group), { count: total, length: groups.length, documentFrequency: [], named: [] });
    let score = 0;
    shares.forEach((share, t) => {
      const times = mentions[t] ?? 0;
      if (times > 0) score += share * inverseFrequency(frequency[t] ?? 0, total) * saturated(times * unit);
    });
    return [group, score] as const;
  });
  const best = scores.reduce((most, [, score]) => Math.max(most, score), 0);
  return new Map(scores.map(([group, score]) => [group, best > 0 ? score / best : 0]));
}
