import { english } from '../../l10n';

/** Deeper than any program nests what it stores, and a small part of what the recursions of engines, schemas and clones take. */
export const mostLevels = 200;
/** Objects, lists and what is in them: each takes some 50 bytes once it is read. */
const mostValues = 20_000_000;

export interface ForeignJson {
  readonly value: unknown;
  /** How many objects and lists lay deeper than `mostLevels`: a text stands in the place of each. */
  readonly cut: number;
}

/** What `cut` is told as. */
export function tooDeep(): string {
  return english('nested deeper than {0} levels, left out', mostLevels);
}

/** Null: it is no JSON, or more than can be held. */
export function parseForeign(text: string): ForeignJson | null {
  try {
    return parseForeignOrThrow(text);
  } catch {
    return null;
  }
}

/**
 * JSON of other programs' files, of which nothing is believed: what is nested too deeply is cut out of the text before it is parsed, since a
 * value of 100,000 levels overflows the stack of whatever walks it later. Throws with words for what is no JSON, or more than can be held.
 */
export function parseForeignOrThrow(text: string): ForeignJson {
  const { flat, cut } = withoutDepths(text);
  try {
    return { value: JSON.parse(flat) as unknown, cut };
  } catch (error) {
    throw new Error(english('The file is no complete JSON: {0}', error instanceof Error ? error.message : String(error)), { cause: error });
  }
}

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Looks at each character once, and at those within strings only as far as `indexOf` does. */
function withoutDepths(text: string): { readonly flat: string; readonly cut: number } {
  const pieces: string[] = [];
  let [depth, values, taken, cutFrom] = [0, 0, 0, -1];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openList || code === openObject) {
      values++;
      if (++depth === mostLevels + 1) cutFrom = at;
    } else if (code === closeList || code === closeObject) {
      if (depth-- !== mostLevels + 1 || cutFrom === -1) continue;
      pieces.push(text.slice(taken, cutFrom), `"[${tooDeep()}]"`);
      [taken, cutFrom] = [at + 1, -1];
    } else if (code === comma) values++;
    if (values > mostValues) throw new Error(english('It has more than {0} million values.', mostValues / 1e6));
  }
  return pieces.length === 0
    ? { flat: depth > mostLevels ? '' : text, cut: 0 }
    : { flat: [...pieces, text.slice(taken)].join(''), cut: pieces.length / 2 };
}

/** Where the quote is that ends the string; the end of the text where there is none. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
