import { withoutLogins } from './addressSecrets';
import { withoutCommandSecrets } from './commandSecrets';
import { withoutHomeFolders } from './homeFolders';
import { issuedSecrets } from './issuedSecrets';
import { hidden, withoutNamed } from './namedSecrets';
import { secretKind } from './secretNames';

/** Shorter ones would blank ordinary words out of a message. */
const shortestKnown = 6;
const longestWord = 4_000;
/** Of a key in lines of base64. */
const shortestLine = 32;

/**
 * Text that may be shown, logged and published: without the given secrets, and without anything that looks like one. It errs on the
 * side of taking out too much; it cannot know what else is private. Takes linear time.
 *
 * 1. What issuers make (issuedSecrets.ts).
 * 2. Names and passwords in addresses (addressSecrets.ts).
 * 3. What command lines and files of credentials say (commandSecrets.ts).
 * 4. What stands behind `password`, `secret`, `token`, `api key` and the like (namedSecrets.ts).
 */
export function redactSecrets(text: string, known: readonly string[] = []): string {
  let safe = text;
  for (const secret of known) if (secret.length >= shortestKnown) safe = safe.replaceAll(secret, hidden);
  for (const { pattern, replacement, accept } of issuedSecrets) {
    if (!accept) safe = safe.replace(pattern, replacement);
    else safe = safe.replace(pattern, (found: string, ...groups: readonly unknown[]) => (accept(found) ? replacement.replace('$1', () => (typeof groups[0] === 'string' ? groups[0] : '')) : found));
  }
  return withoutNamed(withoutCommandSecrets(withoutLogins(safe)));
}

/** What an export with redaction takes out of every text: secrets, and the user's name in home folders (homeFolders.ts). */
export function redactText(text: string): string {
  return withoutHomeFolders(redactSecrets(text));
}

/**
 * The beginning of a text that may be of any length, such as a server's error, redacted. It is cut before it is searched; the last word
 * of what is left can be half of a secret, and lines of base64 a page of one, which no rule would know: they are left out.
 */
export function redactedHead(text: string, longest: number, known: readonly string[] = []): string {
  const read = longest * 8 + longestWord;
  const safe = redactSecrets(text.length <= read ? text : text.slice(0, wholeEnd(text, read)), known);
  return safe.length <= longest ? safe : safe.slice(0, longest);
}

function wholeEnd(text: string, read: number): number {
  const least = read - longestWord;
  for (let end = read; ; ) {
    const before = end;
    while (end > least && !/[\s"',;&<>()]/.test(text[end - 1]!)) end--;
    if (end <= least || (before !== read && before - end < shortestLine)) return before === read ? end : Math.max(before, least);
    while (end > least && /[\s"',;&<>()]/.test(text[end - 1]!)) end--;
  }
}

/** Every text within a JSON value. Names of properties stay. */
export function redactValue<T>(value: T): T {
  if (typeof value === 'string') return redactText(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => redactValue(one)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const named = secretNamed(value);
  return Object.fromEntries(Object.entries(value).map(([name, one]: [string, unknown]) => [name, secretKind(name) || (named && name === 'value') ? redactAll(one) : redactValue(one)])) as T;
}

/** `{"api_key": "…"}`: the name says what the value is, whatever it looks like. */
function redactAll(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : hidden;
  return Array.isArray(value) ? value.map(redactAll) : redactValue(value);
}

/** `{"name": "DB_PASSWORD", "value": "…"}` */
function secretNamed(value: object): boolean {
  const { name, key } = value as { name?: unknown; key?: unknown };
  return [name, key].some((one) => typeof one === 'string' && one.length <= 100 && secretKind(one) !== null);
}
