import { html, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import { shortTokens } from '../../src/protocol/figures';
import type { Context, GaugeModel } from './gaugeModel';

/** The same in numbers. */
export function contextTable(model: GaugeModel, context: Context): TemplateResult {
  return html`
    <table class="context-table">
      <caption>${t('Context window')}</caption>
      <thead class="sr-only">
        <tr><th scope="col">${t('Part')}</th><th scope="col">${t('Tokens')}</th><th scope="col">${t('Share')}</th></tr>
      </thead>
      <tbody>
        ${model.segments.map(
          (s) => html`<tr>
            <th scope="row">
              <span class="part"><span class="swatch part-${s.kind}" aria-hidden="true"></span><span>${s.label}</span></span>
            </th>
            <td>${shortTokens(s.tokens)}</td>
            <td>${s.percent}</td>
          </tr>`,
        )}
      </tbody>
      <tfoot>
        <tr><th scope="row">${t('In use')}</th><td>${model.estimated ? '~' : ''}${shortTokens(context.used)}</td><td>${model.percent}</td></tr>
      </tfoot>
    </table>
  `;
}
