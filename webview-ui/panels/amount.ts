import { html, type TemplateResult } from 'lit';
import { properties } from '../render/properties';

/** A number's share of the largest in its column, beside the number. */
export function amount(part: number, whole: number): TemplateResult {
  return html`<span class="amount" aria-hidden="true" ${properties({ '--share': String(whole > 0 ? Math.max(0, part / whole) : 0) })}></span>`;
}
