import { entryText, type StoredEntry } from '../session/entry';
import { dateText } from './dateText';
import { isRecallable } from './history';
import { chunksOf, termsOfChunk } from './tokenizeTerms';

const seenCapacity = 20_000;

/**
 * The text that the full-text index is given of an entry, and of a query: the terms of the ranker, so that both agree on what
 * matches. Spaces part them and nothing else does: the index's tokenizer splits at ASCII punctuation, which therefore moves to
 * a private range.
 */
export class IndexTerms {
  private readonly seen = new Map<string, string>();

  /** Empty for an entry that recall does not answer with. */
  ofEntry({ content, createdAt }: Pick<StoredEntry, 'content' | 'createdAt'>): string {
    if (!isRecallable(content)) return '';
    return [...chunksOf(entryText(content)), ...chunksOf(dateText(createdAt))].map((chunk) => this.ofChunk(chunk)).join(' ');
  }

  /** Text repeats itself: most chunks have been seen before. */
  private ofChunk(chunk: string): string {
    const known = this.seen.get(chunk);
    if (known !== undefined) return known;
    const text = termsOfChunk(chunk).map(indexTerm).join(' ');
    if (this.seen.size >= seenCapacity) this.seen.clear();
    this.seen.set(chunk, text);
    return text;
  }
}

/** Entries with any or all of the terms, as an FTS query; the terms come from the ranker and hold no character of its syntax. */
export function matchExpression(terms: readonly string[], operator: 'AND' | 'OR' = 'OR'): string {
  return terms.map((term) => `"${indexTerm(term)}"`).join(operator === 'OR' ? ' OR ' : ' ');
}

function indexTerm(term: string): string {
  return term.replace(/[\x00-\x2f:-@[-`{-\x7f]/g, (character) => String.fromCharCode(0xe000 + character.charCodeAt(0)));
}
