import type { StoredEntry } from '../session/entry';
import { entryText } from '../session/entryKinds';
import { dateText } from './dateText';
import { isRecallable } from './history';
import { chunksOf, termsOfChunk } from './tokenizeTerms';

const seenCapacity = 20_000;
/**
 * A word that comes again and again tells little more: BM25 gives four of them 58 % of what any number could add to the first.
 * In return the index of prose is a tenth smaller.
 */
const mostRepeats = 4;

/**
 * The text that the full-text index is given of an entry, and of a query: the terms of the ranker, so that both agree on what
 * matches. Spaces part them and nothing else does: the index's tokenizer splits at ASCII punctuation, which therefore moves to
 * a private range.
 */
export class IndexTerms {
  private readonly seen = new Map<string, readonly string[]>();

  /**
   * Empty for an entry that recall does not answer with. Terms stand together and rare ones first, since nothing asks where they
   * stand in the text: a place takes one byte when it is near the start or the one before.
   */
  ofEntry({ content, createdAt }: Pick<StoredEntry, 'content' | 'createdAt'>): string {
    if (!isRecallable(content)) return '';
    const repeats = new Map<string, number>();
    for (const text of [entryText(content), dateText(createdAt)]) {
      for (const chunk of chunksOf(text)) {
        for (const term of this.ofChunk(chunk)) repeats.set(term, Math.min(mostRepeats, (repeats.get(term) ?? 0) + 1));
      }
    }
    return [...repeats]
      .sort(([, one], [, other]) => one - other)
      .map(([term, times]) => `${term} `.repeat(times))
      .join('');
  }

  /** Text repeats itself: most chunks have been seen before. */
  private ofChunk(chunk: string): readonly string[] {
    const known = this.seen.get(chunk);
    if (known !== undefined) return known;
    const terms = termsOfChunk(chunk).map(indexTerm);
    if (this.seen.size >= seenCapacity) this.seen.clear();
    this.seen.set(chunk, terms);
    return terms;
  }
}

/** Entries with any or all of the terms, as an FTS query; the terms come from the ranker and hold no character of its syntax. */
export function matchExpression(terms: readonly string[], operator: 'AND' | 'OR' = 'OR'): string {
  return terms.map((term) => `"${indexTerm(term)}"`).join(operator === 'OR' ? ' OR ' : ' ');
}

function indexTerm(term: string): string {
  return term.replace(/[\x00-\x2f:-@[-`{-\x7f]/g, (character) => String.fromCharCode(0xe000 + character.charCodeAt(0)));
}
