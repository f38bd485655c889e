import { html, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import { shortTokens } from '../../src/protocol/figures';
import { properties } from '../lib/viewElement';
import type { Context, GaugeModel } from './gaugeModel';

/** The window as one bar: what fills it, what is kept free for the answer, and where something is due. */
export function contextBar(model: GaugeModel, context: Context): TemplateResult {
  return html`
    <div
      class="bar"
      role="meter"
      aria-label=${t('Context window')}
      aria-valuemin="0"
      aria-valuemax=${context.effective}
      aria-valuenow=${Math.min(context.used, context.effective)}
      aria-valuetext=${model.spoken}
    >
      <div class="segments">${model.segments.filter((s) => s.kind !== 'reserved').map(segment)}
        <div class="free" ${properties({ '--share': String(model.free) })}></div>
        ${model.segments.filter((s) => s.kind === 'reserved').map(segment)}
      </div>
      ${model.ticks.map((tick) => html`<div class="tick tick-${tick.kind}" title=${tick.label} ${properties({ '--at': String(tick.share) })}></div>`)}
    </div>
  `;
}

function segment(s: GaugeModel['segments'][number]): TemplateResult {
  return html`<div class="segment part-${s.kind}" title=${t('{0}: {1}', s.label, shortTokens(s.tokens))} ${properties({ '--share': String(s.share) })}></div>`;
}

/** The same in numbers. What is kept free for the answer is not in use: it stands below the sum. */
export function contextTable(model: GaugeModel, context: Context): TemplateResult {
  return html`
    <table class="context-table">
      <caption>${t('Context window')}</caption>
      <thead class="sr-only">
        <tr><th scope="col">${t('Part')}</th><th scope="col">${t('Tokens')}</th><th scope="col">${t('Share')}</th></tr>
      </thead>
      <tbody>
        ${model.segments.filter((s) => s.kind !== 'reserved').map(row)}
      </tbody>
      <tfoot>
        <tr><th scope="row">${t('In use')}</th><td>${model.estimated ? '~' : ''}${shortTokens(context.used)}</td><td>${model.percent}</td></tr>
        ${model.segments.filter((s) => s.kind === 'reserved').map(row)}
      </tfoot>
    </table>
  `;
}

function row(s: GaugeModel['segments'][number]): TemplateResult {
  return html`<tr class="part-row-${s.kind}">
    <th scope="row">
      <span class="part"><span class="swatch part-${s.kind}" aria-hidden="true"></span><span>${s.label}</span></span>
    </th>
    <td>${shortTokens(s.tokens)}</td>
    <td>${s.percent}</td>
  </tr>`;
}
