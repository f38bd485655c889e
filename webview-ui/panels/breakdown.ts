import { html, nothing, type TemplateResult } from 'lit';
import type { BreakdownState, PanelRequest } from '../../src/protocol/panels';
import { contextBar } from '../components/contextBar';
import { contextTable } from '../components/contextTable';
import { gaugeModel, segmentLabels, type Context } from '../components/gaugeModel';
import { ViewElement } from '../components/viewElement';
import { dateTime, plural, tokens } from '../format';
import { compactionTable } from './compactionTable';
import { PanelAskEvent } from './panelAsk';
import { timeline } from './timeline';

/** What is in the context window, what takes most of it, and how it came to be. */
export class BreakdownView extends ViewElement {
  static override properties = { state: { attribute: false } };
  state!: BreakdownState;

  protected override render(): TemplateResult {
    const { session, context } = this.state;
    if (!session || !context) {
      return html`<h1>Context breakdown</h1><p class="muted">Nothing is in the context yet. Send a message in the Threadkeeper chat; what it adds is shown here.</p>`;
    }
    const model = gaugeModel(context);
    return html`
      <h1>Context breakdown</h1>
      <p class="muted">${session.title || 'Untitled'} · ${session.id} · ${context.model} · policy ${context.policy}</p>
      <section>
        <h2>In the window now</h2>
        <div class="window">
          <div class="window-numbers">${contextTable(model, context)}</div>
          <div class="window-facts">
            <p class="large ${model.level}">${model.size} <span class="muted">· ${model.percent}</span></p>
            ${contextBar(model, context)}
            <ul class="gauge-events">${model.ticks.map((tick) => html`<li>${tick.label}</li>`)}</ul>
            <p class="muted">${facts(context, model)}</p>
            ${this.actions(context)}
          </div>
        </div>
      </section>
      <section>
        <h2>Size over time</h2>
        ${timeline(this.state.timeline, context)}
      </section>
      <section>
        <h2 id="largest">Largest entries</h2>
        ${this.largest(context)}
      </section>
      <section>
        <h2 id="compactions">Compactions</h2>
        ${compactionTable(this.state.compactions, (id) => this.ask({ method: 'jump', id }))}
      </section>
    `;
  }

  private actions(context: Context): TemplateResult {
    const { busy, readonly } = this.state;
    return html`<div class="actions">
      <vscode-button appearance="secondary" ?disabled=${busy || readonly} @click=${() => this.ask({ method: 'compact' })}>Compact now</vscode-button>
      <vscode-button appearance="secondary" ?disabled=${readonly} @click=${() => this.ask({ method: 'checkpoint' })}>Checkpoint</vscode-button>
      ${context.compactions > 0
        ? html`<vscode-button appearance="secondary" ?disabled=${busy || readonly} @click=${() => this.ask({ method: 'undo_compaction' })}>Undo last compaction</vscode-button>`
        : nothing}
    </div>`;
  }

  private largest(context: Context): TemplateResult {
    const { largest, readonly } = this.state;
    if (largest.length === 0) return html`<p class="muted">No messages are in the context.</p>`;
    return html`
      <div class="table-box" role="region" aria-labelledby="largest" tabindex="0">
        <table class="list">
          <thead>
            <tr><th scope="col">From</th><th scope="col">Text</th><th scope="col">Part</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Share</th><th scope="col">Actions</th></tr>
          </thead>
          <tbody>
            ${largest.map(
              (entry) => html`<tr>
                <th scope="row" title=${dateTime(entry.at)}>${entry.speaker}</th>
                <td class="excerpt">${entry.text || 'no text'}</td>
                <td>${segmentLabels[entry.segment]()}</td>
                <td class="number">${tokens(entry.tokens)}</td>
                <td class="number">${share(entry.tokens, context.effective)}</td>
                <td class="row-actions">
                  <button type="button" class="link-button" aria-label="Jump to ${entry.speaker}: ${entry.text.slice(0, 40)}" @click=${() => this.ask({ method: 'jump', id: entry.id })}>Jump</button>
                  ${entry.canPin
                    ? html`<button
                        type="button"
                        class="link-button"
                        ?disabled=${readonly}
                        aria-label="${entry.pinned ? 'Unpin' : 'Pin'} ${entry.speaker}: ${entry.text.slice(0, 40)}"
                        @click=${() => this.ask({ method: entry.pinned ? 'unpin' : 'pin', id: entry.id })}
                      >
                        ${entry.pinned ? 'Unpin' : 'Pin'}
                      </button>`
                    : nothing}
                </td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    `;
  }

  private ask(request: PanelRequest): void {
    this.dispatchEvent(new PanelAskEvent(request));
  }
}

function facts(context: Context, { next, forecast, estimated }: ReturnType<typeof gaugeModel>): string {
  return [
    next ? `Next: ${next}.` : '',
    forecast ? `${forecast[0]!.toUpperCase()}${forecast.slice(1)}.` : '',
    context.compactions > 0 ? `Compacted ${context.compactions === 1 ? 'once' : plural(context.compactions, 'time')}.` : '',
    estimated ? 'Estimated until the provider reports its count.' : 'As the provider counted it.',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function share(part: number, whole: number): string {
  const value = whole > 0 ? (part / whole) * 100 : 0;
  return value > 0 && value < 1 ? '<1 %' : `${Math.round(value)} %`;
}
