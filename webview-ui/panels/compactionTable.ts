import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../src/protocol/l10n';
import type { BreakdownState } from '../../src/protocol/panels';
import { shortTokens } from '../../src/protocol/figures';
import { dateTime, duration } from '../lib/format';
import { amount } from './amount';

type Compaction = BreakdownState['compactions'][number];

const triggers: Record<Compaction['trigger'], () => string> = {
  automatic: () => t('automatic'),
  manual: () => t('on request'),
  overflow: () => t('after the provider refused the size'),
  edit: () => t('edited by you'),
  retry: () => t('improved later'),
};
const states: Record<Compaction['state'], () => string> = {
  live: () => t('in force'),
  undone: () => t('undone'),
  replaced: () => t('replaced by a better summary'),
  superseded: () => t('folded into a later one'),
};

/** Before and after of every compaction, the newest first. */
export function compactionTable(compactions: readonly Compaction[], act: (method: 'jump' | 'compare', id: string) => void): TemplateResult {
  if (compactions.length === 0) return html`<p class="muted">${t('Nothing of this conversation has been compacted.')}</p>`;
  const largest = Math.max(...compactions.map(({ tokensBefore }) => tokensBefore), 1);
  return html`
    <div class="table-box" role="region" aria-labelledby="compactions" tabindex="0">
      <table class="list">
        <thead>
          <tr>
            <th scope="col">${t('When')}</th><th scope="col">${t('How')}</th><th scope="col" class="number">${t('Messages')}</th><th scope="col" class="number">${t('Before')}</th><th scope="col" class="number">${t('After')}</th>
            <th scope="col" class="number">${t('Saved')}</th><th scope="col" class="number">${t('Took')}</th><th scope="col" class="number">${t('Key details kept')}</th><th scope="col">${t('State')}</th><th scope="col">${t('Actions')}</th>
          </tr>
        </thead>
        <tbody>
          ${[...compactions].reverse().map((one) => row(one, largest, act))}
        </tbody>
      </table>
    </div>
  `;
}

function row(one: Compaction, largest: number, act: (method: 'jump' | 'compare', id: string) => void): TemplateResult {
  const saved = one.tokensBefore > 0 ? Math.round((1 - one.tokensAfter / one.tokensBefore) * 100) : 0;
  const when = dateTime(one.at);
  return html`<tr class=${one.state}>
    <th scope="row">${when}</th>
    <td class="how">${one.method} · ${triggers[one.trigger]()}</td>
    <td class="number">${wholeNumber(one.messages)}</td>
    <td class="number">${shortTokens(one.tokensBefore)}${amount(one.tokensBefore, largest)}</td>
    <td class="number">${shortTokens(one.tokensAfter)}${amount(one.tokensAfter, largest)}</td>
    <td class="number">${saved} %</td>
    <td class="number">${duration(one.durationMs)}${one.heldMs > 0 ? html`<br /><span class="muted">${t('held a turn {0}', duration(one.heldMs))}</span>` : nothing}</td>
    <td class="number">${one.continuity ? `${Math.round(one.continuity.inContextPercent)} %` : t('not measured')}</td>
    <td>${states[one.state]()}</td>
    <td class="row-actions">
      <button type="button" class="link-button" aria-label=${t('Jump to the compaction of {0}', when)} @click=${() => act('jump', one.id)}>${t('Jump')}</button>
      <button type="button" class="link-button" aria-label=${t('Compare the prompt without and with the compaction of {0}', when)} @click=${() => act('compare', one.id)}>${t('Compare')}</button>
    </td>
  </tr>`;
}
