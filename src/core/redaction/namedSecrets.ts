import { trimmedEnd } from '../base/text';
import { isPlaceholder, looksLikeCode, tokenValue } from './secretValues';
import { secretKind, type SecretKind } from './secretNames';

/** Replaced values. They are taken for none when text is redacted again. */
export const hidden = '[secret]';

/**
 * What may stand between a name and its value: `:`, `=`, `=>`, `:=` with quotes and blanks around them, `is`, `>` of an XML tag, or only
 * blanks, behind a flag (`--password x`) or before a quote (`PASSWORD 'x'`).
 */
const separator = /(?:[\\"'`]{1,4}\]?)?[?!]?(?:[ \t]{0,12}(=>|:=|==?|:(?!\/\/|:))[ \t]{0,12}|[ \t]{1,4}(is|was)[ \t]{1,4}|(>)|[ \t]{1,4})/g;
const longestName = 80;

/** Values by their names, in any kind of file: environment, YAML, JSON, INI, XML, headers, command lines, prose. In linear time. */
export function withoutNamed(text: string): string {
  let safe = '';
  let done = 0;
  separator.lastIndex = 0;
  for (let found = separator.exec(text); found; found = separator.exec(text)) {
    if (found.index < done) continue;
    const name = nameBefore(text, found.index);
    const kind = name === null ? null : secretKind(name.name);
    if (!name || !kind) continue;
    const start = found.index + found[0].length;
    const [, sign, is, tag] = found;
    const how: Separation = sign ? (found[0].trim() === found[0] && sign === '=' ? 'tight' : 'sign') : is ? 'is' : tag ? 'tag' : 'blank';
    if (how === 'tag' && text[name.start - 1] !== '<' && !/<[A-Za-z0-9]{1,20}:$/.test(text.slice(Math.max(0, name.start - 22), name.start)))
      continue;
    const value = valueAt(text, start, { kind, how, name });
    if (!value) continue;
    safe += text.slice(done, value.start) + hidden;
    done = value.end;
    separator.lastIndex = Math.max(done, separator.lastIndex);
  }
  return safe + text.slice(done);
}

type Separation = 'tight' | 'sign' | 'is' | 'tag' | 'blank';

interface Name {
  readonly name: string;
  readonly start: number;
  /** `--password`, and PowerShell's `-Password`. */
  readonly isFlag: boolean;
  /** Nothing but blanks, a dash or `export` stands before it on its line. */
  readonly beginsLine: boolean;
}

interface Found {
  readonly start: number;
  readonly end: number;
}

function nameBefore(text: string, end: number): Name | null {
  const isPart = (at: number) => /[A-Za-z0-9_.$-]/.test(text[at] ?? '');
  let start = end;
  while (start > 0 && end - start < longestName && isPart(start - 1)) start--;
  if (start === end) return null;
  // "api key": two words.
  if (/^(?:key|token|phrase|code|secret)$/i.test(text.slice(start, end)) && text[start - 1] === ' ' && isPart(start - 2)) {
    for (start--; start > 0 && end - start < longestName && isPart(start - 1); ) start--;
  }
  const name = text.slice(start, end);
  const before = text.slice(Math.max(0, start - 40), start);
  return {
    name: name.slice(name.lastIndexOf('.') + 1),
    start,
    isFlag: /^--?[A-Za-z]/.test(name),
    beginsLine: (start <= 40 ? lineBeginning : laterLineBeginning).test(before),
  };
}

const lineBeginning = /(?:^|\n|\\n)[ \t]{0,40}(?:- |export |set |\$env:)?$/;
const laterLineBeginning = /(?:\n|\\n)[ \t]{0,40}(?:- |export |set |\$env:)?$/;

interface Context {
  readonly kind: SecretKind;
  readonly how: Separation;
  readonly name: Name;
}

function valueAt(text: string, start: number, context: Context): Found | null {
  const opener = /\\{0,3}["'`]/y;
  opener.lastIndex = start;
  const quote = opener.exec(text)?.[0];
  if (quote !== undefined) return quotedAt(text, start + quote.length, quote, context);
  const { kind, how, name } = context;
  if (how === 'blank' && !name.isFlag) return null;
  if (how === 'tag') return ranged(text, start, /[^<\n]{1,4000}/y, (value) => kind === 'password' || tokenValue(value));
  if (kind === 'header') return how === 'is' || how === 'blank' ? null : headerAt(text, start, name);
  const run = matchAt(text, start, /[^\s"'`<>|&;]{1,4000}/y);
  if (run === '' || isPlaceholder(run) || looksLikeCode(run, text.slice(start + run.length, start + run.length + 2))) return null;
  if (kind === 'password' && name.beginsLine && (how === 'tight' || how === 'sign')) {
    // All that stands on the line, but for a remark; words are a passphrase.
    const line = trimmedEnd(matchAt(text, start, /(?:(?! [#;]|\\[nr]|",|"\}|"\]|\/\/ )[^\r\n"<>|]){1,4000}/y), /[\s,;)\]}]/);
    if (line.length > run.length && !/[(){}]|=>/.test(line)) return { start, end: start + Math.max(line.length, trimmed(run).length) };
  }
  if (kind === 'password' && how === 'sign' && /phrase|mnemonic/i.test(name.name)) {
    const words = matchAt(text, start, /[^\r\n"'`<>|,;.()]{1,400}/y).trimEnd();
    if (words.length > run.length) return { start, end: start + words.length };
  }
  // In a connection string (`Pwd=a!;`) a value goes on to the semicolon.
  const value = how === 'tight' && text[start + run.length] === ';' ? run : trimmed(run);
  if (value === '' || !isMeant(value, context)) return null;
  return { start, end: start + value.length };
}

/** Without what stands behind a written line end, and without punctuation at the end. */
function trimmed(run: string): string {
  const lineEnd = run.search(/\\[nrt]/);
  return trimmedEnd(lineEnd === -1 ? run : run.slice(0, lineEnd), /[.,:!?)\]}]/);
}

function isMeant(value: string, { kind, how, name }: Context): boolean {
  // `token=token`, `password: dbPassword`
  if (/^[A-Za-z_$][\w$]*$/.test(value) && secretKind(value) !== null) return false;
  const isNumber = /^\d+(?:\.\d+)?$/.test(value);
  const hasMore = /[^A-Za-z]/.test(value);
  if (how === 'blank') return hasMore ? value.length >= 3 && !value.startsWith('-') : value.length >= 6 && value !== value.toUpperCase();
  if (how === 'is') return kind === 'password' ? hasMore && value.length >= 4 : tokenValue(value);
  if (kind === 'password')
    return how === 'tight' || name.isFlag
      ? true
      : isNumber
        ? value.length >= 4
        : hasMore
          ? value.length >= 3
          : name.beginsLine
            ? value.length >= 3
            : value.length >= 6;
  if (isNumber) return value.length >= 8 && how === 'tight';
  return how === 'tight' ? value.length >= 5 : tokenValue(value);
}

function quotedAt(text: string, start: number, quote: string, { kind, how, name }: Context): Found | null {
  const end = closing(text, start, quote);
  const value = text.slice(start, end);
  if (value.trim() === '' || isPlaceholder(value)) return null;
  if (kind === 'header') {
    const scheme = /^(?:Bearer|Basic|Digest|Token|ApiKey)\s{1,4}/i.exec(value)?.[0].length ?? 0;
    return value.length - scheme >= 4 ? { start: start + scheme, end } : null;
  }
  // `{ token: 'keyword' }`: of a grammar.
  if (
    kind === 'token' &&
    (/\s/.test(value) ||
      value.length < 4 ||
      /^[~^<>=v]*\d+(?:\.\d+)+/.test(value) ||
      (/^(?:token|secret)$/i.test(name.name) && /^[a-z.]{1,9}$/.test(value)))
  )
    return null;
  if (how === 'is' && kind === 'password' && value.length < 3) return null;
  return { start, end };
}

/** Where a text in quotes ends; one that is cut off ends with its line. */
function closing(text: string, start: number, quote: string): number {
  const mark = quote.at(-1)!;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '\n' && mark !== '`') return at;
    if (quote.length > 1 ? text.startsWith(quote, at) : char === mark) return at;
    if (quote.length === 1 && char === '\\') at++;
  }
  return text.length;
}

function headerAt(text: string, start: number, name: Name): Found | null {
  const line = matchAt(text, start, /(?:(?!\\["'nr])[^\r\n"'`<>]){1,4000}/y).trimEnd();
  const scheme = /^(?:Bearer|Basic|Digest|Token|ApiKey|Negotiate)\s{1,4}/i.exec(line)?.[0].length ?? 0;
  const value = line.slice(scheme);
  if (isPlaceholder(value) || looksLikeCode(value, '') || /[({]/.test(value.slice(0, 60))) return null;
  const isCookie = /cookie/i.test(name.name);
  if (isCookie ? !/^[^\s=;]{1,100}=[^\s;]/.test(value) : value.length < 6 || (scheme === 0 && !/[\d+/=_-]/.test(value.split(' ', 1)[0]!)))
    return null;
  return { start: start + scheme, end: start + line.length };
}

function ranged(text: string, start: number, pattern: RegExp, accept: (value: string) => boolean): Found | null {
  const value = matchAt(text, start, pattern).trimEnd();
  return value.trim() !== '' && !isPlaceholder(value) && accept(value) ? { start, end: start + value.length } : null;
}

function matchAt(text: string, start: number, pattern: RegExp): string {
  pattern.lastIndex = start;
  return pattern.exec(text)?.[0] ?? '';
}
