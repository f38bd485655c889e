import { WireError } from './chatServer';

/** Words of one line mean nearly the same; what a text means is which lines it has words of. */
const meanings = [
  /\b(?:car|automobile|vehicle|saloon)s?\b/giu,
  /\b(?:dog|puppy|puppies|hound)s?\b/giu,
  /\b(?:bread|loaf|baguette|bakery)\b/giu,
  /\b(?:ship|boat|ferry|vessel)s?\b/giu,
  /\b(?:physician|doctor|surgeon)s?\b/giu,
  /猫|小猫|\bkitten\b/giu,
];

/** A text with this word is too long for the model. */
export const unreadable = 'UNREADABLE';

/** A small vector: a number for each meaning, and a little that every text has. */
export function madeVector(text: string, dimensions = meanings.length + 2): number[] {
  const vector = [...meanings.map((words) => text.match(words)?.length ?? 0), 0.2, (text.length % 7) / 50];
  return Array.from({ length: dimensions }, (_, i) => vector[i] ?? 0);
}

/** What both kinds of servers do with texts. Throws `WireError`. */
export function madeVectors(input: unknown, dimensions?: number): number[][] {
  const texts = Array.isArray(input) ? input.map(String) : [String(input)];
  if (texts.some((text) => text.includes(unreadable))) throw new WireError(400, 'the input length exceeds the context length');
  return texts.map((text) => madeVector(text, dimensions));
}
