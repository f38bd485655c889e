import { t, textLocale, wholeNumber } from '../../src/protocol/l10n';

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

interface Cost {
  readonly usd: number;
  readonly requestsWithoutCost: number;
  readonly requestsEstimated: number;
}

/** What is known of a cost, that not all is known where it is not, and that it is an estimate where the provider has not counted. */
export function costText({ usd, requestsWithoutCost, requestsEstimated }: Cost, requests: number): string {
  if (requests === 0) return t('none');
  if (requestsWithoutCost >= requests) return t('unknown');
  const known = requestsEstimated > 0 ? t('about {0}', dollars(usd)) : dollars(usd);
  if (requestsWithoutCost === 0) return known;
  return t(
    requestsWithoutCost === 1 ? '{0} + {1} request without a known price' : '{0} + {1} requests without a known price',
    known,
    wholeNumber(requestsWithoutCost),
  );
}

function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.01 ? '<$0.01' : `$${usd.toLocaleString(textLocale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** Made at the first use, which is when the language is known, and once: making one takes longer than using it a hundred times. */
function dates(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  let made: Intl.DateTimeFormat | undefined;
  return () => (made ??= new Intl.DateTimeFormat(textLocale(), options));
}

function joined(large: string, rest: number, small: string): string {
  return rest === 0 ? large : `${large} ${small}`;
}
