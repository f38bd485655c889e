import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { AskEvent } from '../events';
import { tokens } from '../format';
import { icon } from '../render/icons';
import { properties } from '../render/properties';
import { gaugeModel, type Context, type GaugeModel } from './gaugeModel';
import { ViewElement } from './viewElement';

/** Long enough to pass over the gauge on the way to the composer. */
const hoverDelay = 300;

/** Where the context window stands: always in sight, the numbers one hover or one Tab away. */
export class GaugeView extends ViewElement {
  static override properties = {
    context: { attribute: false },
    canCompact: { attribute: false },
    hovered: { state: true },
    focused: { state: true },
    pinned: { state: true },
  };
  context: Context | null = null;
  canCompact = true;
  private hovered = false;
  private focused = false;
  private pinned = false;
  private hovering: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.addEventListener('pointerenter', (event) => {
      if (event.pointerType === 'mouse') this.hovering = setTimeout(() => (this.hovered = true), hoverDelay);
    });
    this.addEventListener('pointerleave', () => {
      clearTimeout(this.hovering);
      this.hovered = false;
    });
    this.addEventListener('focusin', (event) => (this.focused = (event.target as Element).matches(':focus-visible')));
    this.addEventListener('focusout', (event) => {
      if (this.contains(event.relatedTarget as Node | null)) return;
      this.focused = false;
      this.pinned = false;
    });
    this.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.open) return;
      event.stopPropagation();
      this.close();
      this.querySelector<HTMLElement>('.gauge-label')?.focus();
      this.focused = false;
    });
  }

  private get open(): boolean {
    return this.hovered || this.focused || this.pinned;
  }

  private close(): void {
    this.hovered = false;
    this.focused = false;
    this.pinned = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('context') && !this.context) this.close();
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.context) return nothing;
    const model = gaugeModel(this.context);
    return html`
      <div class="gauge ${model.level}">
        ${this.open ? this.card(model, this.context) : nothing}
        <div
          class="bar"
          role="meter"
          aria-label="Context window"
          aria-valuemin="0"
          aria-valuemax=${this.context.effective}
          aria-valuenow=${Math.min(this.context.used, this.context.effective)}
          aria-valuetext=${model.spoken}
        >
          <div class="segments">${model.segments.filter((s) => s.kind !== 'reserved').map(segment)}
            <div class="free" ${properties({ '--share': String(model.free) })}></div>
            ${model.segments.filter((s) => s.kind === 'reserved').map(segment)}
          </div>
          ${model.ticks.map(
            (tick) => html`<div class="tick tick-${tick.kind}" title=${tick.label} ${properties({ '--at': String(tick.share) })}></div>`,
          )}
        </div>
        <button
          type="button"
          class="gauge-label"
          aria-expanded=${this.open}
          @click=${() => (this.pinned = !this.pinned)}
        >
          <span class="sr-only">Context window,</span>
          <span class="gauge-size">
            ${model.level === 'normal' ? nothing : icon(model.level === 'over' ? 'error' : 'warning')}
            <span>${model.size} · ${model.percent}</span>
          </span>
          ${model.forecast ? html`<span class="gauge-forecast">${model.forecast}</span>` : nothing}
        </button>
      </div>
    `;
  }

  private card(model: GaugeModel, context: Context): TemplateResult {
    return html`
      <div class="gauge-card" role="group" aria-label="Context breakdown">
        <table>
          <caption>Context window</caption>
          <thead class="sr-only">
            <tr><th scope="col">Part</th><th scope="col">Tokens</th><th scope="col">Share</th></tr>
          </thead>
          <tbody>
            ${model.segments.map(
              (s) => html`<tr>
                <th scope="row">
                  <span class="part"><span class="swatch part-${s.kind}" aria-hidden="true"></span><span>${s.label}</span></span>
                </th>
                <td>${tokens(s.tokens)}</td>
                <td>${s.percent}</td>
              </tr>`,
            )}
          </tbody>
          <tfoot>
            <tr><th scope="row">In use</th><td>${model.estimated ? '~' : ''}${tokens(context.used)}</td><td>${model.percent}</td></tr>
          </tfoot>
        </table>
        <ul class="gauge-events">
          ${model.ticks.map((tick) => html`<li>${tick.label}</li>`)}
        </ul>
        <p class="gauge-note">
          ${model.next ? html`Next: ${model.next}. ` : nothing}${context.compactions > 0
            ? html`Compacted ${context.compactions === 1 ? 'once' : `${context.compactions} times`}. `
            : nothing}${model.estimated ? 'Estimated until the provider reports its count.' : 'As the provider counted it.'}
        </p>
        <vscode-button appearance="secondary" ?disabled=${!this.canCompact} @click=${this.compact}>Compact now</vscode-button>
      </div>
    `;
  }

  private readonly compact = (): void => {
    this.dispatchEvent(new AskEvent({ method: 'compact' }));
    this.close();
  };
}

function segment(s: GaugeModel['segments'][number]): TemplateResult {
  return html`<div class="segment part-${s.kind}" title="${s.label}: ${tokens(s.tokens)}" ${properties({ '--share': String(s.share) })}></div>`;
}
