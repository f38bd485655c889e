/** A language and its texts by the English ones. */
export interface Translations {
  /** VS Code names it so: `en`, `zh-cn`. */
  readonly language: string;
  readonly texts: Readonly<Record<string, string>>;
}

export type TextArgument = string | number;

let current: Translations = { language: 'en', texts: {} };
let compiled: readonly Pattern[] | null = null;

/**
 * What a user reads, in the language VS Code is shown in: `t('Delete {0}?', title)`, or by names, `t('{done} of {all}', { done, all })`.
 * The English text is the key and what is shown where there is no other; it is a literal, so that a test finds every one of them.
 * `vscode.l10n.t` is not used: the webview, the core and the command line do not have it. Called when something is shown and never while
 * a module loads, which is before the language is known. Not for what a model reads, what is stored and what is logged: that is the same in
 * every language.
 */
export function t(message: string, ...args: readonly TextArgument[] | readonly [Readonly<Record<string, TextArgument>>]): string {
  const [first] = args;
  return filled(textOf(message) ?? message, typeof first === 'object' ? first : args);
}

/**
 * A text for the user that is made in English because it is stored, logged, or comes from another thread or window, which know no language.
 * What shows it translates it, with `shown`: also what was stored while VS Code was in another language.
 */
export function english(message: string, ...args: readonly TextArgument[]): string {
  return filled(message, args);
}

/** Puts a text that `english` has made, or one it was put into, into the language of now. Any other text comes back as it is. */
export function shown(text: string): string {
  const exact = textOf(text);
  if (exact !== null) return exact;
  for (const { pattern, message, names } of patterns()) {
    const found = pattern.exec(text);
    if (found) return filled(textOf(message)!, Object.fromEntries(names.map((name, index) => [name, shownPart(found[index + 1]!)])));
  }
  return text;
}

/** They are used for the rest of this process, or of this page. */
export function useTranslations(translations: Translations): void {
  current = translations;
  compiled = null;
}

/** A page is handed these. */
export function translationsInUse(): Translations {
  return current;
}

/** Tells `Intl` the language of the texts, in the variant the system is set to when it is one of them (English dates of Britain). */
export function textLocale(): string {
  const system = new Intl.DateTimeFormat().resolvedOptions().locale;
  const language = current.language.split('-')[0]!;
  return system.split('-')[0] === language ? system : current.language;
}

/** `one, two, three`. */
export function listed(parts: readonly string[]): string {
  return parts.join(t(', '));
}

/** `12,345`. */
export function wholeNumber(value: number): string {
  return value.toLocaleString(textLocale(), { maximumFractionDigits: 0 });
}

/** A single word that was put in is a name, whatever else it may be. */
function shownPart(part: string): string {
  return /\s/.test(part) ? shown(part) : part;
}

interface Pattern {
  readonly pattern: RegExp;
  readonly message: string;
  /** Its placeholders are called so, in the order in which they stand in it. */
  readonly names: readonly string[];
}

/** Letters beside the placeholders: of fewer, as in `{0}: {1}`, a text cannot be recognised. */
const fewestLetters = 7;

/** Every text with placeholders has one; those that say most come first. They are made when the first text is to be recognised. */
function patterns(): readonly Pattern[] {
  return (compiled ??= Object.keys(current.texts)
    .map((message) => ({ message, fixed: message.split(/\{\w+\}/) }))
    .filter(({ fixed }) => fixed.length > 1 && fixed.join('').replace(/[^a-z]/gi, '').length >= fewestLetters)
    .sort((a, b) => b.fixed.join('').length - a.fixed.join('').length)
    .map(({ message, fixed }) => ({
      message,
      pattern: new RegExp(`^${fixed.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('([^]*?)')}$`),
      names: [...message.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
    })));
}

/** An own property: a text may be named like something every object has. */
function textOf(message: string): string | null {
  return Object.hasOwn(current.texts, message) ? current.texts[message]! : null;
}

/** `values`: by number, or by name. */
function filled(text: string, values: object): string {
  const known = new Map(Object.entries(values));
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => (known.has(name) ? String(known.get(name)) : placeholder));
}
