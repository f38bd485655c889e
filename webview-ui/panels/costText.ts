import { t, textLocale } from '../../src/protocol/l10n';

/** What is known of a cost, and that not all is known where it is not. */
export function costText({ usd, requestsWithoutCost }: { readonly usd: number; readonly requestsWithoutCost: number }, requests: number): string {
  if (requests === 0) return t('none');
  if (requestsWithoutCost >= requests) return t('unknown');
  return requestsWithoutCost === 0 ? dollars(usd) : t('{0} and unknown', dollars(usd));
}

function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.01 ? '<$0.01' : `$${usd.toLocaleString(textLocale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
