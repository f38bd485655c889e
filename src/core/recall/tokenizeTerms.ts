import { trimmedEnd } from '../base/text';
import { stem } from './stem';
import { wordForms } from './wordForms';

/** Scripts written without spaces: indexed as pairs of neighbouring characters. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー';
/** Whatever may be part of an identifier, path or URL. One class and no alternatives: linear on any input. */
const chunks = /[\p{L}\p{N}\p{M}_./\\:@#$+~%?=&-]+/gu;
const isAscii = /^[\x00-\x7f]*$/;
const asciiWords = /[A-Za-z0-9]+/g;
const words = /[\p{L}\p{N}\p{M}]+/gu;
const scriptRuns = new RegExp(`[${unspaced}]+|[^${unspaced}]+`, 'gu');
const unspacedCharacter = new RegExp(`[${unspaced}]`, 'gu');
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u');
const edge = /[./\\:@#$+~%?=&-]/;
const leadingEdges = /^[./\\:@#$+~%?=&-]+/;
/** camelCase, PascalCase, and a number with its unit: the parts are what people ask for. */
const splits = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}{2}\p{Ll}|^\p{N}+\p{L}+$/u;
const humps = /(?:\p{Lu}(?!\p{Ll}))+|\p{Lu}?[\p{Ll}\p{Lo}\p{M}]+|\p{N}+/gu;

/** Longer chunks are data (base64, minified code): their words count, the chunk as a whole is nothing anyone asks for. */
const maxWholeTerm = 200;
const maxWord = 64;

/**
 * The terms a text is found by: NFKC, lower case, diacritics folded, Latin words stemmed, stop words left out, unspaced scripts
 * as bigrams (and single characters, so that a query of one character finds them); identifiers, paths and URLs also as a whole.
 */
export function tokenizeTerms(text: string): string[] {
  return termsOf(text, true);
}

/**
 * The distinct terms of a query; single characters of an unspaced script only where they stand alone. Porter's stemmer parts
 * "delivery" (`deliveri`) from "deliver" (`deliv`): such a noun is asked for as both.
 */
export function queryTerms(query: string): string[] {
  const terms = new Set<string>();
  for (const term of withoutGlue(termsOf(query, false))) {
    terms.add(term);
    if (/^[a-z]{5,}i$/.test(term)) terms.add(stem(term.slice(0, -1)));
  }
  return [...terms];
}

/** Chinese function characters: with one of them a pair is grammar more than meaning, and there are many such pairs. */
const glue = new Set([...'的了是在由和与把被吗呢吧啊谁哪什么多少几怎时候为']);

/** Leaves out the pairs that have such a character and add no other to those that stay. */
function withoutGlue(terms: readonly string[]): readonly string[] {
  const isPair = (term: string) => isUnspaced.test(term) && [...term].length === 2;
  const kept = terms.filter((term) => isPair(term) && ![...term].some((character) => glue.has(character)));
  const covered = new Set(kept.flatMap((term) => [...term]));
  if (covered.size === 0) return terms;
  return terms.filter(
    (term) =>
      !isPair(term) ||
      ![...term].some((character) => glue.has(character)) ||
      [...term].some((character) => !glue.has(character) && !covered.has(character)),
  );
}

/**
 * Substrings of the folded text, one of which every text with one of these query terms contains: the part of a word that its
 * stem and every other word of that stem share (the stemmer adds `e` and turns `y` into `i` and `bility` into `bl`).
 */
export function substringsOf(terms: readonly string[]): string[] {
  const found = new Set<string>();
  for (const term of terms) {
    found.add(/^[a-z]{2,}$/.test(term) ? term.replace(/(?:[ie]|(?<=b)l)$/, '') : term);
    for (const form of formsOf().get(term) ?? []) found.add(form);
  }
  return [...found];
}

/** The irregular forms of a term, which share no substring with it. */
let irregularForms: ReadonlyMap<string, readonly string[]> | undefined;
function formsOf(): ReadonlyMap<string, readonly string[]> {
  if (irregularForms) return irregularForms;
  const forms = new Map<string, string[]>();
  for (const [form, word] of wordForms) {
    const term = stem(word);
    const known = forms.get(term);
    if (known) known.push(form);
    else forms.set(term, [form]);
  }
  return (irregularForms = forms);
}

/**
 * How long a text is for ranking: its characters, those of an unspaced script threefold, as each of them says about as much as half a word.
 * Counting terms instead ranks no better, and would need every passage to be tokenised.
 */
export function textLength(text: string): number {
  return isAscii.test(text) ? text.length : text.length + 2 * (text.match(unspacedCharacter)?.length ?? 0);
}

/** The stretches of a text that are tokenised on their own: the terms of a text are those of its chunks. */
export function chunksOf(text: string): string[] {
  return text.normalize('NFKC').match(chunks) ?? [];
}

/** Returns the characters of a term of an unspaced script; undefined for all others. */
export function unspacedCharacters(term: string): readonly string[] | undefined {
  return isUnspaced.test(term) ? [...term] : undefined;
}

export function termsOfChunk(chunk: string, singles = true): string[] {
  const terms: string[] = [];
  const ascii = isAscii.test(chunk);
  const found = chunk.match(ascii ? asciiWords : words) ?? [];
  for (const word of found) {
    if (ascii) {
      if (word.length <= maxWord) addSpaced(word, terms);
      continue;
    }
    for (const run of word.match(scriptRuns) ?? []) {
      if (isUnspaced.test(run)) addBigrams(run, terms, singles);
      else if (run.length <= maxWord) addSpaced(run, terms);
    }
  }
  const whole = found.length > 1 && chunk.length <= maxWholeTerm ? fold(trimmedEnd(chunk.replace(leadingEdges, ''), edge)) : '';
  if (whole !== '') terms.push(whole);
  return terms;
}

function termsOf(text: string, singles: boolean): string[] {
  const terms: string[] = [];
  for (const chunk of chunksOf(text)) for (const term of termsOfChunk(chunk, singles)) terms.push(term);
  return terms;
}

/** Lower case without diacritics; letters that only look decorated (ø, ł) and ligatures included. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[ßøæœłđı]/g, (letter) => plain[letter] ?? letter)
    .normalize('NFC');
}

const plain: Readonly<Record<string, string>> = { ß: 'ss', ø: 'o', æ: 'ae', œ: 'oe', ł: 'l', đ: 'd', ı: 'i' };

/** What all forms of a word have in common, those without a rule included. */
function baseOf(word: string): string {
  return stem(wordForms.get(word) ?? word);
}

function addSpaced(run: string, terms: string[]): void {
  const whole = fold(run);
  if (whole !== '' && !stopWords.has(whole)) terms.push(baseOf(whole));
  if (!splits.test(run)) return;
  for (const [part] of run.matchAll(humps)) {
    const folded = fold(part);
    if (folded.length > 1 && !stopWords.has(folded)) terms.push(baseOf(folded));
  }
}

function addBigrams(run: string, terms: string[], singles: boolean): void {
  let previous = '';
  let pairs = 0;
  for (const character of run) {
    if (previous !== '') {
      terms.push(previous + character);
      pairs++;
    }
    if (singles) terms.push(character);
    previous = character;
  }
  if (pairs === 0 && !singles) terms.push(previous);
}

/** English function words, folded; words that carry a question's meaning in code ("null", "not", "no") are kept out of it. */
export const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by can could did do does ' +
    'doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just ' +
    'let like me more most my myself of off on once only or other our ours out over own please same shall she should so some such than ' +
    'that the their theirs them then there these they this those through to too under until up upon us very was we were what when where ' +
    'which while who whom whose why will with would yes you your yours d ll m re s t ve don didn doesn isn wasn weren won'
  ).split(' '),
);
