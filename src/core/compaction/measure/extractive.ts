import { splitSentences } from '../../recall/splitText';
import { fold, tokenizeTerms } from '../../recall/tokenizeTerms';
import { findIdentifiers, type IdentifierKind } from './identifiers';

export interface ExtractiveItem {
  readonly entryId: string;
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly at: number;
}

export interface ExtractiveLine {
  readonly entryId: string;
  /** A verbatim substring of the entry's text. */
  readonly text: string;
}

export interface ExtractiveSummary {
  /** In the order of the conversation. */
  readonly lines: readonly ExtractiveLine[];
  /** The lines with their ids; at most as many tokens as the budget. */
  readonly text: string;
}

/**
 * A summary without a model: the sentences with the most rare-term mass per token that is not yet in it. Measured at the size of
 * model-written summaries on long conversations, share of answer words kept: 76 % (model-written 73, random sentences 57,
 * centrality as in TextRank or LexRank 39–45: that picks what is repeated, and answers sit in what is rare).
 */
export function extractiveSummary(
  items: readonly ExtractiveItem[],
  budgetTokens: number,
  estimate: (text: string) => number,
): ExtractiveSummary {
  const chosen = choose(sentencesOf(items, estimate), budgetTokens);
  // The sum of the parts is at least the whole for estimates by length; others are checked, and the last chosen give way.
  for (let keep = chosen.length; ; keep = Math.floor(keep * 0.9)) {
    const lines = chosen
      .slice(0, keep)
      .sort((a, b) => a.position - b.position)
      .map(({ entryId, text }) => ({ entryId, text }));
    const text = lines.map(render).join('\n');
    if (keep === 0 || estimate(text) <= budgetTokens) return { lines, text };
  }
}

/** What the id and the layout of a line cost; without it the shortest sentences would win. */
const lineOverhead = 8;
const questionFactor = 0.3;
/** Output of tools is full of rare terms nobody asks for again; the work ledger has what matters of it. */
const toolFactor = 0.5;
/** On top of the mass of its terms; of a feature's idf. */
const bonus: Readonly<Record<IdentifierKind, number>> = { url: 1.5, path: 1.5, code: 1.5, number: 1, name: 1, quoted: 1 };
/** Beyond this, head and tail of the longest entries are looked at (measured: 0.4 s per million characters). */
const maxCharacters = 3_000_000;

interface Sentence extends ExtractiveLine {
  readonly position: number;
  readonly tokens: number;
  readonly factor: number;
  /** Numbers of its distinct features, and what each adds to its weight. */
  readonly features: readonly number[];
  readonly extra: readonly number[];
}

function render({ entryId, text }: ExtractiveLine): string {
  return `- (${entryId}) ${text}`;
}

function sentencesOf(items: readonly ExtractiveItem[], estimate: (text: string) => number): Sentence[] {
  const perItem = charactersPerItem(items);
  const numbers = new Map<string, number>();
  const numberOf = (feature: string) => {
    const known = numbers.get(feature);
    if (known !== undefined) return known;
    numbers.set(feature, numbers.size);
    return numbers.size - 1;
  };
  const sentences: Sentence[] = [];
  for (const { entryId, role, text } of items) {
    const identifiers = findIdentifiers(text);
    let next = 0;
    for (const { start, end } of splitSentences(text)) {
      const features = new Map<number, number>();
      for (; next < identifiers.length && (identifiers[next]?.at ?? 0) < end; next++) {
        const identifier = identifiers[next];
        if (identifier && identifier.at >= start) features.set(numberOf(`=${fold(identifier.text)}`), bonus[identifier.kind]);
      }
      if (start >= perItem / 2 && end <= text.length - perItem / 2) continue;
      const line = { entryId, text: text.slice(start, end) };
      for (const term of tokenizeTerms(line.text)) features.set(numberOf(term), 1);
      if (features.size === 0) continue;
      sentences.push({
        ...line,
        position: sentences.length,
        tokens: estimate(`${render(line)}\n`),
        factor: (isQuestion(line.text) ? questionFactor : 1) * (role === 'tool' ? toolFactor : 1),
        features: [...features.keys()],
        extra: [...features.values()],
      });
    }
  }
  return sentences;
}

function charactersPerItem(items: readonly ExtractiveItem[]): number {
  let limit = 400_000;
  const total = () => items.reduce((sum, { text }) => sum + Math.min(text.length, limit), 0);
  while (limit > 1_000 && total() > maxCharacters) limit /= 2;
  return limit;
}

function isQuestion(text: string): boolean {
  return /[?？]["')\]”’»」』）*_]*$/.test(text.slice(-8));
}

/** Inverse document frequency of every feature, sentences being the documents. */
function rarity(sentences: readonly Sentence[]): number[] {
  const frequency: number[] = [];
  for (const { features } of sentences) for (const feature of features) frequency[feature] = (frequency[feature] ?? 0) + 1;
  return Array.from(frequency, (count) => Math.log(1 + sentences.length / (count ?? 1)));
}

/**
 * Greedy by density of what is not yet covered. Scores only fall as more is covered, so a sentence whose score is still the best
 * after it has been brought up to date is the best of all: few are looked at twice.
 */
function choose(sentences: readonly Sentence[], budgetTokens: number): Sentence[] {
  const idf = rarity(sentences);
  const covered = new Set<number>();
  const density = ({ features, extra, factor, tokens }: Sentence) => {
    let mass = 0;
    features.forEach((feature, i) => {
      if (!covered.has(feature)) mass += (idf[feature] ?? 0) * (extra[i] ?? 1);
    });
    return (mass * factor) / (tokens + lineOverhead);
  };
  const queue = new MaxQueue<Sentence>();
  for (const sentence of sentences) if (sentence.tokens <= budgetTokens) queue.push(sentence, density(sentence));
  const chosen: Sentence[] = [];
  let left = budgetTokens;
  for (let best = queue.pop(); best; best = queue.pop()) {
    if (best.item.tokens > left) continue;
    const now = density(best.item);
    if (now <= 0) continue;
    if (now < best.score) {
      queue.push(best.item, now);
      continue;
    }
    chosen.push(best.item);
    left -= best.item.tokens;
    for (const feature of best.item.features) covered.add(feature);
  }
  return chosen;
}

/** Highest score first, of equals the earliest in the conversation. */
class MaxQueue<T extends { readonly position: number }> {
  private readonly heap: { readonly item: T; readonly score: number }[] = [];

  push(item: T, score: number): void {
    const { heap } = this;
    heap.push({ item, score });
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.before(at, parent)) break;
      this.swap(at, parent);
      at = parent;
    }
  }

  pop(): { readonly item: T; readonly score: number } | undefined {
    const { heap } = this;
    if (heap.length === 0) return undefined;
    this.swap(0, heap.length - 1);
    const top = heap.pop();
    for (let at = 0; ; ) {
      let child = at * 2 + 1;
      if (child + 1 < heap.length && this.before(child + 1, child)) child++;
      if (child >= heap.length || !this.before(child, at)) return top;
      this.swap(at, child);
      at = child;
    }
  }

  private before(a: number, b: number): boolean {
    const x = this.heap[a];
    const y = this.heap[b];
    return x !== undefined && y !== undefined && (x.score > y.score || (x.score === y.score && x.item.position < y.item.position));
  }

  private swap(a: number, b: number): void {
    const x = this.heap[a];
    const y = this.heap[b];
    if (x === undefined || y === undefined) return;
    this.heap[a] = y;
    this.heap[b] = x;
  }
}
