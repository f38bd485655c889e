import { fields, fieldTexts, mostRepeats, type PassageText } from './passageFields';
import { chunksOf, termsOfChunk } from './tokenizeTerms';

const seenCapacity = 20_000;

/**
 * The text that the full-text index is given of a passage, one for each field, and of a query: the terms of the ranker, so that both agree
 * on what matches. Spaces part them and nothing else does: the index's tokenizer splits at ASCII punctuation, which therefore moves to
 * a private range.
 */
export class IndexTerms {
  private readonly seen = new Map<string, readonly string[]>();

  /**
   * In the order of `fields`. Terms stand together and rare ones first, since nothing asks where they stand in the text: a place takes one
   * byte when it is near the start or the one before.
   */
  ofPassage(passage: PassageText): readonly string[] {
    const repeats = fields.map(() => new Map<string, number>());
    for (const [field, text] of fieldTexts(passage)) {
      const most = mostRepeats[field] ?? 1;
      const known = repeats[field];
      for (const chunk of chunksOf(text))
        for (const term of this.ofChunk(chunk)) known?.set(term, Math.min(most, (known.get(term) ?? 0) + 1));
    }
    return repeats.map((known) =>
      [...known]
        .sort(([, one], [, other]) => one - other)
        .map(([term, times]) => `${term} `.repeat(times))
        .join(''),
    );
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
