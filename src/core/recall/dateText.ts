import { t } from '../l10n';

const months = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october', 'november', 'december'];
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** The day in the words people ask with, local time, lower case: `2026-11-20 2026-11 20 november 2026 friday`. */
export function dateText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '';
  const year = String(date.getFullYear());
  const month = `${year}-${two(date.getMonth() + 1)}`;
  return `${month}-${two(date.getDate())} ${month} ${date.getDate()} ${months[date.getMonth()]} ${year} ${weekdays[date.getDay()]}`;
}

/** `2026-11-20`, local time. */
export function dayText(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** `2026-11-20 14:03`, local time. What a model reads always has one. */
export function timeText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return t('unknown time');
  return `${dayText(at)} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
