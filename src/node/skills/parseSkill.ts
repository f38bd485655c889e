import { basename, dirname } from 'node:path';

export interface ParsedSkill {
  readonly name: string;
  readonly description: string;
  /** The text comes without the front matter. */
  readonly text: string;
}

/** A name has at most so many characters. */
const longestName = 64;

/**
 * A skill's file: front matter with `name` and `description`, and the instructions behind it. Undefined without a description. Only these
 * two keys are read, line by line: descriptions in the wild hold colons and quotes as people write them, which no YAML parser takes.
 */
export function parseSkill(source: string, file: string): ParsedSkill | undefined {
  const [, head, text = ''] = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(source) ?? [];
  if (head === undefined) return undefined;
  const fields = fieldsOf(head.split(/\r?\n/));
  const description = oneLine(fields.get('description') ?? '');
  const stem = /^skill\.md$/i.test(basename(file)) ? basename(dirname(file)) : basename(file).replace(/\.md$/i, '');
  const name = oneLine(fields.get('name') ?? '').slice(0, longestName) || oneLine(stem).slice(0, longestName);
  return description === '' || name === '' ? undefined : { name, description, text };
}

/** The top keys with what stands behind them; indented lines go on with the one before. */
function fieldsOf(lines: readonly string[]): Map<string, string> {
  const fields = new Map<string, string>();
  let key = '';
  for (const line of lines) {
    const [, found, value = ''] = /^([A-Za-z][\w-]*):(?:\s(.*))?$/.exec(line) ?? [];
    if (found !== undefined) {
      key = found.toLowerCase();
      // `>` and `|` say that the lines below are the value.
      fields.set(key, /^[>|][+-]?\d*$/.test(value.trim()) ? '' : value);
    } else if (/^\s/.test(line) && key !== '') fields.set(key, `${fields.get(key) ?? ''} ${line.trim()}`);
  }
  for (const [name, value] of fields) fields.set(name, unquoted(value.trim()));
  return fields;
}

function unquoted(value: string): string {
  const [, , inside] = /^(["'])([\s\S]*)\1$/.exec(value) ?? [];
  return inside === undefined ? value : inside.replace(/\\"/g, '"').replace(/''/g, "'");
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
