import { parseForeign } from '../../../core/transfer/formats/foreignJson';

/**
 * One entry in a settings file of another program, put in and taken out by cutting the text: comments, commas at the end, order and
 * indentation stay as they are, and so does all that this program knows nothing of. Taking out what was put in gives the very text from
 * before.
 */

/** The file is not what its program reads: nothing of it is touched. */
export class SettingsUnreadable extends Error {
  override readonly name = 'SettingsUnreadable';
}

interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

interface JsonObject {
  /** Where its brace stands. */
  readonly start: number;
  readonly members: readonly Member[];
}

/** The text with `parent.name` set to `value`; null stands for no file. Throws `SettingsUnreadable`. */
export function withJsonEntry(text: string | null, parent: string, name: string, value: object): string {
  if (text === null || text.trim() === '') return newFile(parent, name, value);
  const removed = withoutJsonEntry(text, parent, name);
  // Nothing but it was in the file.
  if (removed === null) return newFile(parent, name, value);
  const clean = removed ?? text;
  const root = rootOf(clean);
  const held = last(root, parent);
  const indent = indentOf(clean);
  if (held === undefined) {
    // On one line with its brace: so it is known again as ours when the entry goes.
    const made = `\n${indent}${JSON.stringify(parent)}: {${JSON.stringify(name)}: ${JSON.stringify(value)}}`;
    return insertedFirst(clean, root, made);
  }
  const object = objectAt(clean, held.valueStart);
  if (object === null) throw new SettingsUnreadable(`"${parent}" is no object`);
  const body = JSON.stringify(value, null, indent).replaceAll('\n', `\n${indent}${indent}`);
  return insertedFirst(clean, object, `\n${indent}${indent}${JSON.stringify(name)}: ${body}`);
}

/** The text without it, null when nothing but it was in the file; undefined when it is not there. Throws `SettingsUnreadable`. */
export function withoutJsonEntry(text: string, parent: string, name: string): string | null | undefined {
  if (text.trim() === '') return undefined;
  const root = rootOf(text);
  const held = last(root, parent);
  const object = held && objectAt(text, held.valueStart);
  const entry = object && last(object, name);
  if (!held || !object || !entry) return undefined;
  if (text === newFile(parent, name, JSON.parse(strict(text.slice(entry.valueStart, entry.valueEnd))) as object)) return null;
  const isMade = object.members.length === 1 && entry.keyStart === object.start + 1 && entry.valueEnd === held.valueEnd - 1;
  return isMade ? cut(text, root, held) : cut(text, object, entry);
}

/** A text at the top of a settings file; undefined where there is none. Throws `SettingsUnreadable`. */
export function jsonText(text: string, name: string): string | undefined {
  const held = last(rootOf(text), name);
  const value: unknown = held && parseForeign(text.slice(held.valueStart, held.valueEnd))?.value;
  return typeof value === 'string' ? value : undefined;
}

function newFile(parent: string, name: string, value: object): string {
  return `${JSON.stringify({ [parent]: { [name]: value } }, null, 2)}\n`;
}

/** Programs take the last of several members of a name. */
function last(object: JsonObject, key: string): Member | undefined {
  return object.members.findLast((member) => member.key === key);
}

function insertedFirst(text: string, { start, members }: JsonObject, member: string): string {
  return `${text.slice(0, start + 1)}${member}${members.length > 0 ? ',' : ''}${text.slice(start + 1)}`;
}

/** Takes a member out with the line break before it and one comma: the one behind it, or else the one before. */
function cut(text: string, { start, members }: JsonObject, member: Member): string {
  let from = member.keyStart;
  while (from > start + 1 && (text[from - 1] === ' ' || text[from - 1] === '\t')) from--;
  if (from > start + 1 && text[from - 1] === '\n') from -= text[from - 2] === '\r' ? 2 : 1;
  const behind = skipBlank(text, member.valueEnd);
  const index = members.indexOf(member);
  if (text[behind] === ',') return `${text.slice(0, from)}${text.slice(member.valueEnd, behind)}${text.slice(behind + 1)}`;
  const previous = members[index - 1];
  if (!previous) return text.slice(0, from) + text.slice(member.valueEnd);
  const comma = skipBlank(text, previous.valueEnd);
  return text.slice(0, comma) + text.slice(comma + 1, from) + text.slice(member.valueEnd);
}

function rootOf(text: string): JsonObject {
  const start = skipBlank(text, text.startsWith('\ufeff') ? 1 : 0);
  const root = objectAt(text, start);
  if (root === null) throw new SettingsUnreadable('it does not begin with an object');
  if (skipBlank(text, endOf(text, start)) < text.length) throw new SettingsUnreadable('something stands behind its end');
  return root;
}

/** Null when something else begins there. */
function objectAt(text: string, start: number): JsonObject | null {
  if (text[start] !== '{') return null;
  const members: Member[] = [];
  for (let at = skipBlank(text, start + 1); text[at] !== '}'; ) {
    const keyEnd = endOfString(text, at);
    const colon = skipBlank(text, keyEnd);
    if (text[colon] !== ':') throw new SettingsUnreadable('a colon is missing');
    const valueStart = skipBlank(text, colon + 1);
    const valueEnd = endOf(text, valueStart);
    members.push({ key: parsed(text.slice(at, keyEnd)), keyStart: at, valueStart, valueEnd });
    at = skipBlank(text, valueEnd);
    if (text[at] === ',') at = skipBlank(text, at + 1);
    else if (text[at] !== '}') throw new SettingsUnreadable('a comma is missing');
  }
  return { start, members };
}

/** Behind the value that begins there, however deep it is. */
function endOf(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const character = text[at]!;
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') {
      depth++;
      at++;
    } else if (character === '}' || character === ']') {
      if (depth === 0) break;
      depth--;
      at++;
    } else if (depth === 0) {
      const scalar = /[^\s,{}[\]"/:]+/y;
      scalar.lastIndex = at;
      if (!scalar.test(text)) break;
      return scalar.lastIndex;
    } else {
      const next = skipBlank(text, at);
      at = next > at ? next : at + 1;
    }
    if (depth === 0) return at;
  }
  throw new SettingsUnreadable('a value is missing, or never ends');
}

function endOfString(text: string, start: number): number {
  if (text[start] !== '"') throw new SettingsUnreadable('a name is missing');
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  throw new SettingsUnreadable('a text never ends');
}

/** Over white space and comments. */
function skipBlank(text: string, start: number): number {
  let at = start;
  for (;;) {
    while (at < text.length && /\s/.test(text[at]!)) at++;
    if (text.startsWith('//', at)) {
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end;
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2);
      if (end === -1) throw new SettingsUnreadable('a comment never ends');
      at = end + 2;
    } else return at;
  }
}

function parsed(key: string): string {
  try {
    return JSON.parse(key) as string;
  } catch {
    throw new SettingsUnreadable('a name cannot be read');
  }
}

/** What we have written is JSON; anything else is compared with nothing. */
function strict(value: string): string {
  try {
    JSON.parse(value);
    return value;
  } catch {
    return '{}';
  }
}

/** As the file has it: of its first line that is indented. */
function indentOf(text: string): string {
  return /^([ \t]+)"/m.exec(text)?.[1] ?? '  ';
}
