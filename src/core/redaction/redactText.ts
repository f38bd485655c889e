import { issuedSecrets } from './issuedSecrets';
import { hidden, withoutNamed } from './namedSecrets';
import { secretKind } from './secretNames';
import { isPlaceholder } from './secretValues';

/** Shorter ones would blank ordinary words out of a message. */
const shortestKnown = 6;
const longestWord = 4_000;
/** Lines of a key in base64 are at least this long. */
const shortestLine = 32;

/**
 * Text that may be shown, logged and published: without the given secrets, and without anything that looks like one. It errs on the
 * side of taking out too much; it cannot know what else is private. Takes linear time.
 *
 * 1. What issuers make (issuedSecrets.ts).
 * 2. Names and passwords in addresses.
 * 3. What command lines and files of credentials say.
 * 4. What stands behind `password`, `secret`, `token`, `api key` and the like (namedSecrets.ts).
 */
export function redactSecrets(text: string, known: readonly string[] = []): string {
  let safe = text;
  for (const secret of known) if (secret.length >= shortestKnown) safe = safe.replaceAll(secret, hidden);
  for (const { pattern, replacement, accept } of issuedSecrets) {
    if (!accept) safe = safe.replace(pattern, replacement);
    else
      safe = safe.replace(pattern, (found: string, ...groups: readonly unknown[]) =>
        accept(found) ? replacement.replace('$1', () => (typeof groups[0] === 'string' ? groups[0] : '')) : found,
      );
  }
  return withoutNamed(withoutCommandSecrets(withoutLogins(safe)));
}

/** What an export with redaction takes out of every text: secrets, and the user's name in home folders. */
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

/** Every text within a JSON value. Names of properties that are no words, such as paths, are texts as well. */
export function redactValue<T>(value: T): T {
  if (typeof value === 'string') return redactText(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown, i) => (isFlagged(value[i - 1], one) ? hidden : redactValue(one))) as T;
  if (typeof value !== 'object' || value === null) return value;
  const named = secretNamed(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]: [string, unknown]) => [
      /[^\w$]/.test(name) ? redactText(name) : name,
      secretKind(name) || (named && name === 'value') ? redactAll(one) : redactValue(one),
    ]),
  ) as T;
}

/** `["--password", "…"]`: the flag before it says what the value is. */
function isFlagged(before: unknown, value: unknown): boolean {
  if (typeof before !== 'string' || typeof value !== 'string' || value === '' || value.startsWith('-')) return false;
  return /^--?[A-Za-z][\w-]{1,80}$/.test(before) && secretKind(before) !== null;
}

/** `{"api_key": "…"}`: the name says what the value is, whatever it looks like. */
function redactAll(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? value : hidden;
  // A PIN, or a password of digits.
  if (typeof value === 'number') return String(value).length < 4 ? value : hidden;
  if (Array.isArray(value)) return value.map(redactAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]: [string, unknown]) => [name, redactAll(one)]));
}

/** `{"name": "DB_PASSWORD", "value": "…"}` */
function secretNamed(value: object): boolean {
  const { name, key } = value as { name?: unknown; key?: unknown };
  return [name, key].some((one) => typeof one === 'string' && one.length <= 100 && secretKind(one) !== null);
}

/**
 * Names and passwords in addresses: `https://ada:lovelace@host`, `redis://:pass@host`, with `@` and `/` in the password, and a token
 * in place of the name. What stands between one `://` and the next is looked at once, so the time is linear.
 */
function withoutLogins(text: string): string {
  return text.replace(/:\/\/((?:(?!:\/\/)[^\s"'`<>])+)/g, (whole, rest: string) => {
    const at = rest.lastIndexOf('@');
    if (at <= 0) return whole;
    const login = rest.slice(0, at);
    // A port, or a name without a password (`git@github.com:owner/name`) and what has the sign somewhere in its path.
    const isPassword = /^[^/?#@:]*(?::|%3A)(?!\d{1,5}(?:[/?#]|$))/i.test(login);
    const isToken = /^[^/?#@:]{16,}$/.test(login) && /\d/.test(login);
    return isPassword || isToken ? `://[login]${rest.slice(at)}` : whole;
  });
}

/** A text without its closing quote was cut off. */
const value = String.raw`(?:\\{0,3}"[^"\n]{1,200}(?:"|$)|\\{0,3}'[^'\n]{1,200}(?:'|$)|[^\s"'\x60|;&<>]{1,200})`;

const quote = String.raw`(?:\\{0,3}["'])?`;
const named = String.raw`[A-Za-z0-9_.-]{0,60}(?:passw(?:or)?d|pwd|secret|token|api_?key|access_?key|private_?key)(?:_[A-Za-z0-9]{1,10})?`;

/** Each begins with words of its own, and what follows them is bounded: linear time. The first group stays. */
const commands: readonly RegExp[] = [
  // `curl -u name:password`, `--user`, `--proxy-user`; behind other words, whose `-u` may be anything, the name ends with a colon.
  new RegExp(
    String.raw`((?:^|[\s"'\x60])(?:-u|-U|--user|--proxy-user)[ =]{0,3}(?:\\{0,3}["'])?(?!https?:)[A-Za-z0-9._@+%\\-]{1,80}:)(?![/:\s"'])[^\s"'\x60]{1,200}`,
    'gm',
  ),
  new RegExp(String.raw`(\bmysql(?:dump|admin|import|sh)?\b[^\n|;]{0,200}?\s-p)(?=[^\s-])${value}`, 'g'),
  new RegExp(String.raw`(\bsshpass\s{1,4}-p\s{0,4})${value}`, 'g'),
  new RegExp(String.raw`(\b(?:redis-cli|keydb-cli|valkey-cli)\b[^\n|;]{0,200}?\s(?:-a|--pass)\s{1,4})${value}`, 'g'),
  new RegExp(
    String.raw`(\b(?:docker|podman|helm registry|az|oc|nerdctl)\s{1,4}(?:login|acr login)\b[^\n|;]{0,200}?\s-p\s{0,4})${value}`,
    'g',
  ),
  new RegExp(
    String.raw`(\b(?:htpasswd|mosquitto_(?:pub|sub)|ldapsearch|ldapmodify|smbclient|rclone|7z|zip|unzip)\b[^\n|;]{0,200}?\s(?:-w|-P|-b\s{1,4}\S{1,100}\s{1,4}\S{1,60})\s{0,4})${value}`,
    'g',
  ),
  new RegExp(String.raw`(\s-pass(?:in|out)?\s{1,4}pass:)[^\s"'\x60]{1,200}`, 'g'),
  new RegExp(String.raw`(\becho\s{1,4})${value}(?=\s{0,4}\|\s{0,4}sudo\s{1,4}-S)`, 'g'),
  new RegExp(String.raw`(\bConvertTo-SecureString\s{1,4}(?:-String\s{1,4})?)${value}`, 'gi'),
  new RegExp(String.raw`(\bnet\s{1,4}use\b[^\n]{0,200}?/user:\S{1,80}\s{1,4})${value}`, 'gi'),
  // Cookies of curl.
  new RegExp(String.raw`((?:\s-b|\s--cookie)[ =]{1,3}(?:\\{0,3}["'])?[A-Za-z0-9._-]{1,80}=)[^\n"'\x60]{1,1000}`, 'g'),
  // netrc, on one line and on several, and a PAM or SQL phrase.
  new RegExp(String.raw`(\blogin\s{1,8}\S{1,100}\s{1,8}(?:account\s{1,8}\S{1,100}\s{1,8})?password\s{1,8})(?!:|=)\S{1,200}`, 'gi'),
  new RegExp(String.raw`(\bIDENTIFIED\s{1,4}BY\s{1,4}(?:PASSWORD\s{1,4})?\\{0,3}['\"])[^'\"\n]{1,200}`, 'gi'),
  // pgpass: host:port:database:user:password
  new RegExp(
    String.raw`((?:(?<![^\s"'])|(?<=\\n))[A-Za-z0-9.*_-]{1,100}:(?:\d{2,5}|\*):[A-Za-z0-9_*-]{1,60}:[A-Za-z_*][A-Za-z0-9_*.-]{0,60}:)[^\s:"'\\]{3,200}(?![^\s"'\\])`,
    'g',
  ),
  // `define('DB_PASSWORD', 'x')`, `setenv("TOKEN", "x")`
  new RegExp(
    String.raw`(\b(?:define|setenv|putenv|setItem|setProperty|setdefault|set|put|append)\(\s{0,4}\\{0,3}["']${named}\\{0,3}["'],\s{0,4}\\{0,3}["'])[^"'\n\\]{3,400}`,
    'gi',
  ),
  // A flag and its value stand side by side in a list: `["--api-key", "x"]`.
  new RegExp(
    String.raw`(["']--?(?:[A-Za-z0-9]{1,20}-){0,4}(?:password|passwd|pwd|secret|token|api-?key|access-?key|private-?key)\\{0,3}["'],(?:\s|\\[nrt]){0,40}\\{0,3}["'])(?!-)[^"'\\\n]{3,400}`,
    'gi',
  ),
  // A pair of a name and a value in YAML, JSON and XML.
  new RegExp(
    String.raw`(\b(?:name|key)${quote}\s{0,3}[:=]\s{0,3}${quote}${named}${quote},?(?:\s|\\[nrt]){0,40}${quote}value${quote}\s{0,3}[:=]\s{0,3}${quote})[^\s"'<>,}\\]{3,400}`,
    'gi',
  ),
];

/** Passwords as command lines and files of credentials have them, where no name that says so stands before them. */
function withoutCommandSecrets(text: string): string {
  return commands.reduce(
    (safe, command) =>
      safe.replace(command, (whole: string, kept: string) =>
        isPlaceholder(whole.slice(kept.length).replace(/^["']/, '')) ? whole : `${kept}${hidden}`,
      ),
    text,
  );
}

/** The name ends where a part of a path ends. */
const part = String.raw`[^/\\\s"'\x60<>|:*?()\[\]{},;]{1,64}`;

/** A path begins, or one of the folders that home folders lie in on some system. */
const beginning = String.raw`(?:(?<![A-Za-z0-9_.-])|[A-Za-z](?::|%3A)|\\[nrt]|/var|/usr|/export|/mnt/[a-z]|/[a-z]|/System/Volumes/Data|/host_mnt|/host_mnt/[a-z]|/data|/wsl\$/[A-Za-z0-9.-]{1,32}|localhost|vscode-remote://[A-Za-z0-9.+%-]{1,64})`;

/**
 * However they are written: `/home/name`, `/Users/name`, `/var/home/name`, `/mnt/c/Users/name`, `C:\Users\name`, and `-home-name-`, which
 * some programs name folders for.
 */
const folders: readonly RegExp[] = [
  // Windows: a name with blanks in it ends with the next part of the path.
  /((?:[A-Za-z]:|\\\\[A-Za-z0-9.$-]{1,64})(?:\\{1,4}[A-Za-z0-9.$ -]{1,40})?\\{1,4}(?:Users|home|Documents and Settings)\\{1,4})(?:[^\\/:*?"<>|\r\n]{1,64}(?=\\)|[^\\/\s"'`<>|:*?]{1,64})/gi,
  new RegExp(String.raw`(/(?:home|Users)/(?<=${beginning}/(?:home|Users)/))${part}`, 'gi'),
  new RegExp(String.raw`(%2F(?:home|Users)%2F)[^%/\s"'\x60<>&?]{1,64}`, 'gi'),
  // A flag (`--home-page`) and a word (`my-home-page`) are none.
  /((?<![A-Za-z0-9-])(?:-(?:var|mnt-[a-z]|export))?-(?:home|Users)-|(?<![A-Za-z0-9])[A-Za-z]--Users-)[A-Za-z0-9_.]{1,64}(?=-)/g,
];

/** Puts `user` in place of the user's name. */
function withoutHomeFolders(text: string): string {
  return folders.reduce((safe, folder) => safe.replace(folder, '$1user'), text);
}
