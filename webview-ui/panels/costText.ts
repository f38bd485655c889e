import { t, textLocale } from '../../src/protocol/l10n';

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
  return requestsWithoutCost === 0 ? known : t('{0} and unknown', known);
}

function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.01 ? '<$0.01' : `$${usd.toLocaleString(textLocale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
