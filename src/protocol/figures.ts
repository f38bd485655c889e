import { t, textLocale } from '../core/l10n';

export { visibleText } from '../core/base/text';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** `950`, `84.1k`, `200k`, `1.2M`. */
export function shortTokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 999_950 ? `${oneDecimal(count / 1000)}k` : `${oneDecimal(count / 1_000_000)}M`;
}

/** The same for a screen reader: `84 thousand`, `1.2 million`. */
export function spokenTokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 999_500 ? t('{0} thousand', Math.round(count / 1000)) : t('{0} million', oneDecimal(count / 1_000_000));
}

/** Rounded to whole percent; 0 of nothing. */
export function percent(part: number, whole: number): number {
  return whole > 0 ? Math.round((part / whole) * 100) : 0;
}

/** `42%`; `<1%` for what is there but rounds to nothing. */
export function percentText(part: number, whole: number): string {
  const rounded = percent(part, whole);
  return rounded === 0 && part > 0 ? '<1%' : `${rounded}%`;
}

/** `just now`, `12 min ago`, `3 h ago`, `yesterday`, `5 days ago`, then the date. */
export function ago(at: number, now: number): string {
  const passed = now - at;
  if (passed < minute) return t('just now');
  if (passed < hour) return t('{0} min ago', Math.floor(passed / minute));
  // By the calendar, as the groups of the Sessions view are.
  const days = Math.round((midnight(now) - midnight(at)) / day);
  if (days <= 0) return t('{0} h ago', Math.floor(passed / hour));
  if (days === 1) return t('yesterday');
  return days < 7 ? t('{0} days ago', days) : dateText(at);
}

function midnight(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

let medium: Intl.DateTimeFormat | undefined;

/** `15 Nov 2026`. The format is made at the first use, when the language is known, and once: making it takes longer than a hundred uses. */
export function dateText(at: number): string {
  return (medium ??= new Intl.DateTimeFormat(textLocale(), { dateStyle: 'medium' })).format(at);
}

let short: Intl.DateTimeFormat | undefined;

/** `14:05` */
export function clockText(at: number): string {
  return (short ??= new Intl.DateTimeFormat(textLocale(), { timeStyle: 'short' })).format(at);
}

function oneDecimal(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}
