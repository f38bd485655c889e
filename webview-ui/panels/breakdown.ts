import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../src/protocol/l10n';
import type { BreakdownState, PanelRequest } from '../../src/protocol/panels';
import { contextBar, contextTable } from '../gauge/contextBar';
import { segmentLabels } from '../../src/protocol/contextText';
import { gaugeModel, type Context } from '../gauge/gaugeModel';
import { ViewElement } from '../lib/viewElement';
import { shortTokens } from '../../src/protocol/figures';
import { dateTime, duration } from '../lib/format';
import { PanelAskEvent } from './panel';
import { timeline } from './timeline';
import { amount } from './plots';

/** What is in the context window, what takes most of it, and how it came to be. */
export class BreakdownView extends ViewElement {
  static override properties = { state: { attribute: false } };
  state!: BreakdownState;

  protected override render(): TemplateResult {
    const { session, context } = this.state;
    if (!session || !context) {
      return html`<h1>${t('Context breakdown')}</h1><p class="muted">${t('Nothing is in the context yet. Send a message in the Threadkeeper chat; what it adds is shown here.')}</p>`;
    }
    const model = gaugeModel(context);
    return html`
      <h1>${t('Context breakdown')}</h1>
      <p class="muted">${session.title || t('Untitled')} · ${session.id} · ${context.model} · ${t('policy {0}', context.policy)}</p>
      <section>
        <h2>${t('In the window now')}</h2>
        <div class="window">
          <div class="window-numbers">${contextTable(model, context)}</div>
          <div class="window-facts">
            <p class="large ${model.level}">${model.size} <span class="muted">· ${model.percent}</span></p>
            ${contextBar(model, context)}
            <ul class="gauge-events">${model.ticks.map((tick) => html`<li>${tick.label}</li>`)}</ul>
            <p class="muted">${facts(context, model)}</p>
            <p class="muted">${model.cache}</p>
            ${this.actions(context)}
          </div>
        </div>
      </section>
      <section>
        <h2>${t('Size over time')}</h2>
        ${timeline(this.state.timeline, context)}
      </section>
      <section>
        <h2 id="largest">${t('Largest entries')}</h2>
        ${this.largest(context)}
      </section>
      ${this.excluded()}
      <section>
        <h2 id="compactions">${t('Compactions')}</h2>
        ${compactionTable(this.state.compactions, (method, id) => this.ask({ method, id }))}
      </section>
    `;
  }

  private actions(context: Context): TemplateResult {
    const { busy, readonly } = this.state;
    return html`<div class="actions">
      <vscode-button appearance="secondary" ?disabled=${busy || readonly} @click=${() => this.ask({ method: 'compact' })}>${t('Compact now')}</vscode-button>
      <vscode-button appearance="secondary" ?disabled=${readonly} @click=${() => this.ask({ method: 'checkpoint' })}>${t('Save Snapshot')}</vscode-button>
      ${
        context.compactions > 0
          ? html`<vscode-button appearance="secondary" ?disabled=${busy || readonly} @click=${() => this.ask({ method: 'undo_compaction' })}>${t('Undo last compaction')}</vscode-button>`
          : nothing
      }
    </div>`;
  }

  private largest(context: Context): TemplateResult {
    const { largest, readonly, busy } = this.state;
    if (largest.length === 0) return html`<p class="muted">${t('No messages are in the context.')}</p>`;
    return html`
      <div class="table-box" role="region" aria-labelledby="largest" tabindex="0">
        <table class="list">
          <thead>
            <tr><th scope="col">${t('From')}</th><th scope="col">${t('Text')}</th><th scope="col">${t('Part')}</th><th scope="col" class="number">${t('Tokens')}</th><th scope="col" class="number">${t('Share')}</th><th scope="col">${t('Actions')}</th></tr>
          </thead>
          <tbody>
            ${largest.map(
              (entry) => html`<tr>
                <th scope="row" title=${dateTime(entry.at)}>${entry.speaker}</th>
                <td class="excerpt">${entry.text || t('no text')}</td>
                <td>${segmentLabels[entry.segment]()}</td>
                <td class="number">${shortTokens(entry.tokens)}</td>
                <td class="number">${share(entry.tokens, context.effective)}</td>
                <td class="row-actions">
                  <button type="button" class="link-button" aria-label=${t('Jump to {0}: {1}', entry.speaker, entry.text.slice(0, 40))} @click=${() => this.ask({ method: 'jump', id: entry.id })}>${t('Jump')}</button>
                  ${
                    entry.canPin
                      ? html`<button
                        type="button"
                        class="link-button"
                        ?disabled=${readonly}
                        aria-label=${t(entry.pinned ? 'Unpin {0}: {1}' : 'Pin {0}: {1}', entry.speaker, entry.text.slice(0, 40))}
                        @click=${() => this.ask({ method: entry.pinned ? 'unpin' : 'pin', id: entry.id })}
                      >
                        ${entry.pinned ? t('Unpin') : t('Pin')}
                      </button>`
                      : nothing
                  }
                  ${
                    entry.canExclude
                      ? html`<button
                        type="button"
                        class="link-button"
                        ?disabled=${readonly || busy || entry.pinned}
                        aria-label=${t('Exclude {0}', `${entry.speaker}: ${entry.text.slice(0, 40)}`)}
                        @click=${() => this.ask({ method: 'exclude', id: entry.id })}
                      >
                        ${t('Exclude')}
                      </button>`
                      : nothing
                  }
                </td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    `;
  }

  /** Nothing of it is lost: here is the way back. */
  private excluded(): TemplateResult | typeof nothing {
    const { excluded, readonly, busy } = this.state;
    if (excluded.length === 0) return nothing;
    return html`<section>
      <h2 id="excluded">${t('Not in context')}</h2>
      <div class="table-box" role="region" aria-labelledby="excluded" tabindex="0">
        <table class="list">
          <thead><tr><th scope="col">${t('From')}</th><th scope="col">${t('Text')}</th><th scope="col">${t('Actions')}</th></tr></thead>
          <tbody>
            ${excluded.map(
              ({ id, speaker, text, at }) => html`<tr>
                <th scope="row" title=${dateTime(at)}>${speaker}</th>
                <td class="excerpt">${text || t('no text')}</td>
                <td class="row-actions">
                  <button type="button" class="link-button" aria-label=${t('Jump to {0}: {1}', speaker, text.slice(0, 40))} @click=${() => this.ask({ method: 'jump', id })}>${t('Jump')}</button>
                  <button type="button" class="link-button" ?disabled=${readonly || busy} aria-label=${t('Include again: {0}', `${speaker}: ${text.slice(0, 40)}`)} @click=${() => this.ask({ method: 'include', id })}>${t('Include again')}</button>
                </td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }

  private ask(request: PanelRequest): void {
    this.dispatchEvent(new PanelAskEvent(request));
  }
}

function facts(context: Context, { next, forecast, estimated }: ReturnType<typeof gaugeModel>): string {
  return [
    next ? t('Next: {0}.', next) : '',
    forecast ? t('{0}.', `${forecast[0]!.toUpperCase()}${forecast.slice(1)}`) : '',
    context.compactions > 0
      ? t(context.compactions === 1 ? 'Compacted once.' : 'Compacted {0} times.', wholeNumber(context.compactions))
      : '',
    estimated ? t('Estimated until the provider reports its count.') : t('Measured by the provider.'),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function share(part: number, whole: number): string {
  const value = whole > 0 ? (part / whole) * 100 : 0;
  return value > 0 && value < 1 ? '<1%' : `${Math.round(value)}%`;
}

type Compaction = BreakdownState['compactions'][number];

const triggers: Record<Compaction['trigger'], () => string> = {
  automatic: () => t('automatic'),
  manual: () => t('on request'),
  overflow: () => t('after the provider refused the size'),
  cold: () => t('after the prompt cache expired'),
  edit: () => t('edited by you'),
  retry: () => t('improved later'),
};
const states: Record<Compaction['state'], () => string> = {
  live: () => t('in force'),
  undone: () => t('undone'),
  replaced: () => t('replaced by a better summary'),
  superseded: () => t('included in a later one'),
};

/** Before and after of every compaction, the newest first. */
function compactionTable(compactions: readonly Compaction[], act: (method: 'jump' | 'compare', id: string) => void): TemplateResult {
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
    <td class="number">${saved}%</td>
    <td class="number">${duration(one.durationMs)}${one.heldMs > 0 ? html`<br /><span class="muted">${t('held a turn {0}', duration(one.heldMs))}</span>` : nothing}</td>
    <td class="number">${one.continuity ? `${Math.round(one.continuity.inContextPercent)}%` : t('not measured')}</td>
    <td>${states[one.state]()}</td>
    <td class="row-actions">
      <button type="button" class="link-button" aria-label=${t('Jump to the compaction of {0}', when)} @click=${() => act('jump', one.id)}>${t('Jump')}</button>
      <button type="button" class="link-button" aria-label=${t('Compare the prompt without and with the compaction of {0}', when)} @click=${() => act('compare', one.id)}>${t('Compare')}</button>
    </td>
  </tr>`;
}
