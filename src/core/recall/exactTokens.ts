import { chunksOf, fold, termsOfChunk } from './tokenizeTerms';

/** A token of a query that means itself and nothing like it: a number, an error code, a path, an identifier. */
export interface ExactToken {
  /** Folded. */
  readonly text: string;
  /** The terms that a text with it has: the token as a whole where it is more than a word, and its words. */
  readonly terms: readonly string[];
}

/** Years, times of the day, days of a month and counts are part of what a question says, and no name for anything. */
const plainNumber =
  /^(?:\d{1,2}|(?:19|20)\d{2}|\d{1,3}(?:st|nd|rd|th|s)|\d{1,2}:\d{2}|\d{4}-\d{2}(?:-\d{2})?|\d{1,4}\/\d{1,2}(?:\/\d{1,4})?|\d{1,2}(?:am|pm)|\d+%)$/;
const beforeYear =
  /(?:in|of|since|until|by|before|after|year|january|february|march|april|may|june|july|august|september|october|november|december|\d{1,2}(?:st|nd|rd|th)?,?)\s*$/iu;

export function exactTokens(query: string): ExactToken[] {
  const found = new Map<string, ExactToken>();
  const normal = query.normalize('NFKC');
  for (const part of chunksOf(normal).flatMap((chunk) => chunk.split(han))) {
    const text = trimmedToken(part);
    if (!isExact(text) || isYear(text, normal)) continue;
    const folded = fold(text);
    found.set(folded, { text: folded, terms: termsOfChunk(text, false) });
  }
  return [...found.values()].filter(({ terms }) => terms.length > 0);
}

/** Tells whether a text has the token, not as part of a longer word: `src/a.ts` stands in `(src/a.ts:12)` and not in `xsrc/a.ts`. */
export function hasToken(folded: string, { text }: ExactToken): boolean {
  for (let at = folded.indexOf(text); at !== -1; at = folded.indexOf(text, at + 1)) {
    if (!joins(folded, at - 1, text[0] ?? '') && !joins(folded, at + text.length, text.at(-1) ?? '')) return true;
  }
  return false;
}

const wordCharacter = /[\p{L}\p{N}_]/u;
const han = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai}/u;

/** Between Latin and Chinese text there need not be a space. */
function joins(text: string, at: number, edge: string): boolean {
  const character = text[at] ?? ' ';
  return wordCharacter.test(character) && wordCharacter.test(edge) && !han.test(character);
}

function trimmedToken(chunk: string): string {
  let start = 0;
  let end = chunk.length;
  while (start < end && /[.\\:@#$+~%?=&-]/.test(chunk[start] ?? '')) start++;
  while (end > start && /[./\\:@#$+~%?=&-]/.test(chunk[end - 1] ?? '')) end--;
  return chunk.slice(start, end);
}

function isExact(text: string): boolean {
  if (text.length < 3 || text.length > 200 || plainNumber.test(text) || han.test(text)) return false;
  // A number of three digits and more, or one inside a name: `8007`, `E4711`, `v1.2.3`, `utf8`.
  if (/\d/.test(text)) return /\d{3}/.test(text) || /\p{L}/u.test(text) || /\d[._/:-]\d/.test(text);
  // A path, a URL, a name with an underscore, a file: `src/core`, `a_b`, `notes.md`. "and/or" and "e.g." are words.
  if (/[\\_@#]|::|\/\//.test(text)) return /\p{L}/u.test(text);
  if (/\p{L}\/\p{L}/u.test(text)) return /[./].*[./]/.test(text) || text.startsWith('/');
  if (/^\p{L}[\p{L}-]+(?:\.[\p{L}-]{2,})+$/u.test(text)) return true;
  // `getUserById`, and the names of system errors.
  return /^\p{Ll}+\p{Lu}\p{Ll}/u.test(text) || /^E[A-Z]{4,}$/.test(text);
}

/** `2023` in "in 2023" is a year; alone it may be a port. */
function isYear(text: string, query: string): boolean {
  if (!/^(?:19|20)\d{2}$/.test(text)) return false;
  const at = query.indexOf(text);
  return at > 0 && beforeYear.test(query.slice(0, at));
}
