import { fold } from './tokenizeTerms';

/** Ends of sentences and lines. NFKC has made the punctuation of CJK text ASCII, without a space after it. */
const sentenceEnd = /(?<=[.!?;])\s+|(?<=。|[^\x00-\x7f][!?;])|\n/u;
/** Characters whose fold has another length; without them text and fold have the same offsets. */
const shifting = /[ßẞæÆœŒİ\u0300-\u036f]/;

/**
 * Of an NFKC text, for each sentence with one of the folded substrings: its stretches without white space in which one begins. No
 * term reaches over white space, so that nothing else has to be tokenised: of long texts with few hits that is most.
 */
export function matchingParts(normal: string, substrings: readonly string[]): string[][] {
  const found: string[][] = [];
  for (const sentence of normal.split(sentenceEnd)) {
    const folded = fold(sentence);
    const ends = new Map<number, number>();
    for (const part of substrings) {
      for (let at = folded.indexOf(part); at !== -1; ) {
        const start = lastSpace(folded, at) + 1;
        const end = nextSpace(folded, at + part.length);
        ends.set(start, Math.max(end, ends.get(start) ?? 0));
        at = folded.indexOf(part, end);
      }
    }
    if (ends.size === 0) continue;
    const isAligned = folded.length === sentence.length && !shifting.test(sentence);
    found.push(isAligned ? [...ends].map(([start, end]) => sentence.slice(start, end)) : [sentence]);
  }
  return found;
}

function lastSpace(text: string, before: number): number {
  let at = before - 1;
  while (at >= 0 && !isSpace(text.charCodeAt(at))) at--;
  return at;
}

function nextSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
