import { english } from '../../l10n';
import { isObject, type Json } from '../../base/json';

/** Deeper than any program nests what it stores, and a small part of what the recursions of engines, schemas and clones take. */
const mostLevels = 200;
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
 * JSON of other programs' files, of which nothing is believed: what is nested too deeply is cut out of the text before it is parsed, since
 * a
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

/* Foreign records are read field by field: whatever has another shape than expected counts as not there, and is kept raw. */

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/**
 * Reports and names of kinds use it: what is neither a word nor a number is called by what it is. `String` would call a foreign `toString`.
 */
export function wordOf(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'list' : 'object';
  return String(value).slice(0, mostOfWord);
}

/** A kind is counted, shown and stored with every record of it. */
const mostOfWord = 200;

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** ISO text, or milliseconds, or (where it can be nothing else) seconds since the epoch; null for what is no time. */
export function timeOf(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value)) return Math.round(value < 1e11 ? value * 1000 : value);
  if (typeof value !== 'string' || value === '') return null;
  // SQLite writes it so, in UTC.
  if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(value)) return timeOf(`${value.replace(' ', 'T')}Z`);
  const at = /^\d+(?:\.\d+)?$/.test(value) ? timeOf(Number(value)) : Date.parse(value);
  return at === null || Number.isNaN(at) ? null : at;
}

/** The fields that are not among the known ones; undefined when there are none. */
export function otherFields(record: Json, known: ReadonlySet<string>): Json | undefined {
  const rest = Object.entries(record).filter(([name, value]) => !known.has(name) && value !== undefined && value !== null);
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

/** A text, or the texts of a list of blocks. */
export function joinedText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .flatMap((block: unknown) =>
      typeof block === 'string' ? [block] : isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
    )
    .join('\n');
}

/** A value that is longer than what there is of it still says what it is. */
const lists: readonly unknown[] = [];
const objects: Readonly<Record<string, unknown>> = {};

/**
 * The members that an object begins with, as far as the text goes, which may end within it: words and numbers as they stand, of lists and
 * objects only that they are one, of a text that is cut off an empty one. Null: it begins no object.
 */
export function leadingMembers(text: string, from = 0): ReadonlyMap<string, unknown> | null {
  let at = behindSpace(text, from);
  if (text[at] !== '{') return null;
  const members = new Map<string, unknown>();
  for (at++; at < text.length; at++) {
    at = behindSpace(text, at);
    const end = text[at] === '"' ? endOfString(text, at) : text.length;
    const name = scalarOf(text.slice(at, end + 1));
    at = behindSpace(text, end + 1);
    if (end >= text.length || typeof name !== 'string' || text[at] !== ':') break;
    at = behindSpace(text, at + 1);
    const behind = endOfValue(text, at);
    if (text[at] === '[' || text[at] === '{') members.set(name, text[at] === '[' ? lists : objects);
    else if (behind < text.length) members.set(name, scalarOf(text.slice(at, behind)));
    else if (text[at] === '"') members.set(name, '');
    at = behindSpace(text, behind);
    if (text[at] !== ',') break;
  }
  return members;
}

function behindSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return at;
}

/** The end of the text where the value does not end before. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const one = text[at]!;
    if (one === '"') at = endOfString(text, at);
    else if (one === '[' || one === '{') depth++;
    else if (one === ']' || one === '}') depth--;
    if (depth < 0 || (depth === 0 && one === ',')) return at;
    if (depth === 0 && (one === '"' || one === ']' || one === '}')) return Math.min(at + 1, text.length);
  }
  return text.length;
}

function scalarOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
