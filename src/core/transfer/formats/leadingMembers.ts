import { endOfString } from './foreignJson';

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
