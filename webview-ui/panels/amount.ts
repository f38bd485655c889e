import { html, type TemplateResult } from 'lit';
import { t, textLocale } from '../../src/protocol/l10n';
import { properties } from '../render/properties';

/** A number's share of the largest in its column, beside the number. */
export function amount(part: number, whole: number): TemplateResult {
  return html`<span class="amount" aria-hidden="true" ${properties({ '--share': String(whole > 0 ? Math.max(0, part / whole) : 0) })}></span>`;
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
  return requestsWithoutCost === 0 ? known : t('{0} and unknown', known);
}

function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.01 ? '<$0.01' : `$${usd.toLocaleString(textLocale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
