import { t, textLocale } from '../src/protocol/l10n';

/** `950`, `84.1k`, `200k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 999_950 ? `${oneDecimal(count / 1000)}k` : `${oneDecimal(count / 1_000_000)}M`;
}

/** The same for a screen reader: `84 thousand`, `1.2 million`. */
export function spokenTokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 999_500 ? t('{0} thousand', Math.round(count / 1000)) : t('{0} million', oneDecimal(count / 1_000_000));
}

export function percent(part: number, whole: number): number {
  return whole > 0 ? Math.round((part / whole) * 100) : 0;
}

/** `4 s`, `1 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return t('{0} s', seconds);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined(t('{0} min', minutes), seconds % 60, t('{0} s', seconds % 60));
  return joined(t('{0} h', Math.floor(minutes / 60)), minutes % 60, t('{0} min', minutes % 60));
}

const clock = dates({ hour: '2-digit', minute: '2-digit' });
const day = dates({ dateStyle: 'medium' });

const shortDay = dates({ day: 'numeric', month: 'short' });
const moment = dates({ dateStyle: 'medium', timeStyle: 'short' });

/** Of `2026-11-20`. */
export function dayName(iso: string): string {
  return day().format(new Date(`${iso}T12:00:00`));
}

/** Without the year. */
export function shortDayName(iso: string): string {
  return shortDay().format(new Date(`${iso}T12:00:00`));
}

export function dateTime(at: number): string {
  return moment().format(at);
}

export function timeOfDay(at: number): string {
  return clock().format(at);
}

/** `just now`, `12 min ago`, `3 h ago`, `yesterday`, `5 days ago`, then the date. */
export function ago(at: number, now: number): string {
  const minutes = Math.floor((now - at) / 60_000);
  if (minutes < 1) return t('just now');
  if (minutes < 60) return t('{0} min ago', minutes);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return t('{0} h ago', hours);
  const days = Math.floor(hours / 24);
  if (days === 1) return t('yesterday');
  return days < 7 ? t('{0} days ago', days) : day().format(at);
}

/** Made at the first use, which is when the language is known, and once: making one takes longer than using it a hundred times. */
function dates(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  let made: Intl.DateTimeFormat | undefined;
  return () => (made ??= new Intl.DateTimeFormat(textLocale(), options));
}

function oneDecimal(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}

function joined(large: string, rest: number, small: string): string {
  return rest === 0 ? large : `${large} ${small}`;
}
