import { isObject } from '../../base/json';
import type { SearchHit } from '../../session/searchQuery';
import { snippet } from '../snippet';

/** Arguments by which a call is known best, under the names that programs give them; the most telling first. */
const tellingKeys = [
  ...['path', 'file_path', 'filePath', 'file', 'filename', 'target_file', 'notebook_path'],
  ...['command', 'cmd', 'script', 'query', 'pattern', 'url', 'question', 'prompt', 'name'],
];
const speakerHead = 'call of ';
/** Characters of a call's head before a match that lies far behind it. */
const headCharacters = 60;

/**
 * A passage with a call's input as its arguments, the most telling one first: `src/tide.ts · limit: 20`. Values are as they were given,
 * line ends and quotes included. Null for what is no call.
 */
export function callArguments({ speaker, text, start }: Pick<SearchHit, 'speaker' | 'text' | 'start'>): string | null {
  if (!speaker.startsWith(speakerHead)) return null;
  const name = nameOf(speaker);
  if (start > 0 || !text.startsWith(`${name} `)) return unescaped(text.trim());
  const json = text.slice(name.length + 1).trim();
  const given = wholeArguments(json) ?? cutArguments(json);
  if (given.length === 0) return json;
  const rank = (key: string) => (tellingKeys.includes(key) ? tellingKeys.indexOf(key) : tellingKeys.length);
  return [...given]
    .sort(([one], [other]) => rank(one) - rank(other))
    .map(([key, value], i) => (i === 0 && tellingKeys.includes(key) ? value : `${key}: ${value}`))
    .join(' · ');
}

/** One line of a passage around its first match: a call by its name and its arguments, anything else as it stands. */
export function hitSnippet(hit: Pick<SearchHit, 'speaker' | 'text' | 'start'>, terms: readonly string[], maxCharacters?: number): string {
  const given = callArguments(hit);
  if (given === null) return snippet(hit.text, terms, maxCharacters);
  const line = `${nameOf(hit.speaker)} ${given}`;
  const part = snippet(line, terms, maxCharacters);
  // What was found stands far behind the name, without which nobody knows what it is.
  return part.startsWith('…') ? `${snippet(line, [], headCharacters)} ${part}` : part;
}

function nameOf(speaker: string): string {
  return speaker.slice(speakerHead.length);
}

function wholeArguments(json: string): (readonly [string, string])[] | null {
  try {
    const input: unknown = JSON.parse(json);
    if (!isObject(input)) return null;
    return Object.entries(input).map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]);
  } catch {
    return null;
  }
}

/** The arguments of an input whose end is in another passage; those of objects within it stand among them. */
function cutArguments(json: string): (readonly [string, string])[] {
  const pair = /"((?:[^"\\]|\\.)*)"\s*:\s*(?:"((?:[^"\\]|\\.)*)(?:"|\\?$)|([^\s",{}[\]]+))/gs;
  return [...json.matchAll(pair)].map(([, key = '', text, plain = '']) => [unescaped(key), text === undefined ? plain : unescaped(text)]);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code: string | undefined, sign: string) =>
    code === undefined ? (escapes[sign] ?? sign) : String.fromCharCode(parseInt(code, 16)),
  );
}
