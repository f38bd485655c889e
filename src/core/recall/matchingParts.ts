import { fold } from './tokenizeTerms';

/** Ends of sentences and lines. NFKC has made the punctuation of CJK text ASCII, without a space after it. */
const sentenceEnd = /(?<=[.!?;])\s+|(?<=。|[^\x00-\x7f][!?;])|\n/u;
/** Characters whose fold has another length; without them text and fold have the same offsets. */
const shifting = /[ßẞæÆœŒİ\u0300-\u036f]/;

/**
 * Takes an NFKC text and its fold, and returns for each sentence with one of the folded substrings its stretches without white space and sentence
 * ends in which one begins. No term reaches over those, so that nothing else has to be tokenised: of long texts with few hits that
 * is most. `wanted` is a global expression for any of the substrings.
 */
export function matchingParts(normal: string, folded: string, wanted: RegExp): string[][] {
  if (folded.length !== normal.length || shifting.test(normal)) {
    return normal
      .split(sentenceEnd)
      .filter((sentence) => fold(sentence).search(wanted) !== -1)
      .map((sentence) => [sentence]);
  }
  const found: string[][] = [];
  let sentence: string[] = [];
  let end = 0;
  for (let at = next(folded, wanted, 0); at !== -1; at = next(folded, wanted, end)) {
    let start = at;
    while (start > end && !isBreak(normal, start)) start--;
    if (sentence.length === 0 || hasSentenceEnd(normal, end, start)) found.push((sentence = []));
    end = at + 1;
    while (end < normal.length && !isBreak(normal, end)) end++;
    sentence.push(normal.slice(start, end));
  }
  return found;
}

/** Any of the folded substrings, as `matchingParts` looks for them. */
export function anyOf(substrings: readonly string[]): RegExp {
  return new RegExp(substrings.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|') || '(?!)', 'g');
}

function next(folded: string, wanted: RegExp, from: number): number {
  wanted.lastIndex = from;
  return wanted.test(folded) ? wanted.lastIndex - 1 : -1;
}

/** Whether no term reaches from before `at` to it. */
function isBreak(text: string, at: number): boolean {
  return isSpace(text.charCodeAt(at - 1)) || isSpace(text.charCodeAt(at)) || endsUnspaced(text, at);
}

function hasSentenceEnd(text: string, from: number, to: number): boolean {
  for (let at = from; at <= to; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || endsUnspaced(text, at) || (isSpace(code) && isStop(text.charCodeAt(at - 1)))) return true;
  }
  return false;
}

function endsUnspaced(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before === 0x3002 || (before !== 46 && isStop(before) && text.charCodeAt(at - 2) > 0x7f);
}

/** `.!?;` */
function isStop(code: number): boolean {
  return code === 46 || code === 33 || code === 63 || code === 59;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}
