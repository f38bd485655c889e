/** A language and its texts by the English ones. */
export interface Translations {
  /** As VS Code names it: `en`, `zh-cn`. */
  readonly language: string;
  readonly texts: Readonly<Record<string, string>>;
}

export type TextArgument = string | number;

let current: Translations = { language: 'en', texts: {} };

/**
 * What a user reads, in the language VS Code is shown in: `t('Delete {0}?', title)`, or by names, `t('{done} of {all}', { done, all })`.
 * The English text is the key and what is shown where there is no other; it is a literal, so that a test finds every one of them.
 * `vscode.l10n.t` is not used: the webview, the core and the command line do not have it. Called when something is shown and never while
 * a module loads, which is before the language is known. Not for what a model reads, what is stored and what is logged: that is the same in every language.
 */
export function t(message: string, ...args: readonly TextArgument[] | readonly [Readonly<Record<string, TextArgument>>]): string {
  // An own property: a text may be named like something every object has.
  const text = Object.hasOwn(current.texts, message) ? current.texts[message]! : message;
  const [first] = args;
  const values: Readonly<Record<string, unknown>> = typeof first === 'object' ? first : { ...args };
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : placeholder));
}

/** For the rest of this process, or of this page. */
export function useTranslations(translations: Translations): void {
  current = translations;
}

/** To hand on to a page. */
export function translationsInUse(): Translations {
  return current;
}

/** For `Intl`: the language of the texts, in the variant the system is set to when it is one of them (English dates of Britain). */
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
