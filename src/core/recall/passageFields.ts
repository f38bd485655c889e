import { dateText } from './dateText';
import { resolveDates } from './relativeDates';

export interface PassageText {
  readonly text: string;
  /** When it was said; null when nobody knows. */
  readonly at: number | null;
  /** It begins what somebody said: a name may stand before it. */
  readonly opens?: boolean;
  /** Which part of what was said it is; 0 when that is not given. */
  readonly part?: number;
}

/**
 * The parts of a passage that count differently, in the order of the index's columns: its sentences; those of them that ask; its day and
 * the days it names relative to that one; who said it, where the text says so ("Mira: …").
 */
export const fields = ['said', 'asked', 'dated', 'named'] as const;
export const [saidField, askedField, datedField, namedField] = [0, 1, 2, 3] as const;

/**
 * How often a term counts in each field: a word that comes again and again tells little more. BM25 gives three of them half of what any
 * number could add to the first, and the index is smaller for it.
 */
export const mostRepeats = [3, 3, 2, 1] as const;

/** A text and the field that it belongs to, by its place in `fields`. */
export type FieldText = readonly [field: number, text: string];

export function fieldTexts({ text, at, opens, part = 0 }: PassageText, withDates = true): FieldText[] {
  const name = opens ? speakerOf(text) : '';
  const parts: FieldText[] = sentencesOf(name === '' ? text : text.slice(name.length + 1)).map((sentence) => [
    asks.test(sentence) ? askedField : saidField,
    sentence,
  ]);
  if (name !== '') parts.push([namedField, name]);
  if (at !== null && withDates) {
    // The day of a long message stands with its first part, which gives to the next; with it in each the index is larger for nothing.
    const day = part === 0 ? [dateText(at)] : [];
    for (const words of new Set([...day, ...resolveDates(text, at).map((date) => date.words)])) parts.push([datedField, words]);
  }
  return parts;
}

/** Punctuation of CJK text has no space after it. */
const sentenceEnd = /(?<=[.!?;])\s+|(?<=[。！？；])|\n/u;
const asks = /[?？]["'”’」』)\]\s]*$/u;

function sentencesOf(text: string): string[] {
  return text.split(sentenceEnd).filter((sentence) => sentence !== '');
}

/** "Mira: ", "Dr. Mira Lund: ", "小明："; a log's "ERROR: " and a heading of several words are none. */
const label = /^(?:\p{Lu}[\p{Ll}\p{M}'’.-]{1,24}(?: \p{Lu}[\p{L}\p{M}'’.-]{0,24}){0,2}|\p{Script=Han}{2,4})(?=[:：])/u;

/** Returns the name that a text begins with, before a colon; empty when it begins with none. */
function speakerOf(text: string): string {
  return label.exec(text.slice(0, 90))?.[0] ?? '';
}
