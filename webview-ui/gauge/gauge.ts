import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import { coldNotice } from '../../src/protocol/contextText';
import { ask, AskEvent } from '../lib/events';
import { icon } from '../render/icons';
import { contextBar, contextTable } from './contextBar';
import { gaugeModel, type Context, type GaugeModel } from './gaugeModel';
import { ViewElement } from '../lib/viewElement';

/** Long enough to pass over the gauge on the way to the composer. */
const hoverDelay = 300;

/** Where the context window stands: always in sight, the numbers one hover or one Tab away. */
export class GaugeView extends ViewElement {
  static override properties = {
    context: { attribute: false },
    canCompact: { attribute: false },
    canCheckpoint: { attribute: false },
    hovered: { state: true },
    focused: { state: true },
    pinned: { state: true },
  };
  context: Context | null = null;
  canCompact = true;
  canCheckpoint = true;
  private hovered = false;
  private focused = false;
  private pinned = false;
  private hovering: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    // Once a stay. Not on `pointerenter`, which is also fired when the page moves below a pointer that rests.
    this.addEventListener('pointermove', (event) => {
      if (event.pointerType === 'mouse') this.hovering ??= setTimeout(() => (this.hovered = true), hoverDelay);
    });
    this.addEventListener('pointerleave', () => {
      clearTimeout(this.hovering);
      this.hovering = undefined;
      this.hovered = false;
    });
    // The toolkit's buttons never match: what the keyboard has opened stays open until the focus leaves it.
    this.addEventListener('focusin', (event) => (this.focused ||= (event.target as Element).matches(':focus-visible')));
    this.addEventListener('focusout', (event) => {
      if (this.contains(event.relatedTarget as Node | null)) return;
      this.focused = false;
      this.pinned = false;
    });
    this.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.open) return;
      event.stopPropagation();
      this.leaveCard();
    });
  }

  private get open(): boolean {
    return this.hovered || this.focused || this.pinned;
  }

  /** The focus goes back to where the card was opened from. */
  private leaveCard(): void {
    this.close();
    this.querySelector<HTMLElement>('.gauge-label')?.focus();
    this.focused = false;
  }

  private close(): void {
    // A pointer that rests on the gauge does not open again what was closed meanwhile.
    clearTimeout(this.hovering);
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
        ${contextBar(model, this.context)}
        <button
          type="button"
          class="gauge-label"
          aria-expanded=${this.open}
          @click=${() => (this.pinned = !this.pinned)}
        >
          <span class="sr-only">${t('Context window,')}</span>
          <span class="gauge-size">
            ${model.level === 'normal' ? nothing : icon(model.level === 'over' ? 'error' : 'warning')}
            <span>${model.size} · ${model.percent}</span>
          </span>
          ${model.isCold ? html`<span class="gauge-cold">${t('cache expired')}</span>` : nothing}
          ${model.forecast ? html`<span class="gauge-forecast">${model.forecast}</span>` : nothing}
        </button>
      </div>
    `;
  }

  private card(model: GaugeModel, context: Context): TemplateResult {
    return html`
      <div class="gauge-card" role="group" aria-label=${t('Context breakdown')}>
        ${contextTable(model, context)}
        <ul class="gauge-events">
          ${model.ticks.map((tick) => html`<li>${tick.label}</li>`)}
        </ul>
        <p class="gauge-note">
          ${model.next ? html`${t('Next: {0}.', model.next)} ` : nothing}${
            context.compactions > 0
              ? html`${t(context.compactions === 1 ? 'Compacted once.' : 'Compacted {0} times.', context.compactions)} `
              : nothing
          }${model.estimated ? t('Estimated until the API reports its count.') : t('Measured by the API.')}
        </p>
        <p class="gauge-note">${model.cache}</p>
        ${model.summarizing ? html`<p class="gauge-note">${model.summarizing}</p>` : nothing}
        <div class="actions">
          <vscode-button appearance="secondary" ?disabled=${!this.canCompact} @click=${this.ask('compact')}>${t('Compact now')}</vscode-button>
          <vscode-button appearance="secondary" ?disabled=${!this.canCheckpoint} @click=${this.ask('checkpoint')}>${t('Save Snapshot')}</vscode-button>
          <vscode-button appearance="secondary" @click=${this.ask('show_breakdown')}>${t('Breakdown')}</vscode-button>
        </div>
      </div>
    `;
  }

  private ask(method: 'compact' | 'checkpoint' | 'show_breakdown'): () => void {
    return () => {
      this.dispatchEvent(new AskEvent({ method }));
      this.leaveCard();
    };
  }
}

/** One line above the composer, gone with the next message: what it will cost, and how it will cost less. */
export function coldLine(cache: Context['cache'], canCompact: boolean): TemplateResult | typeof nothing {
  const notice = coldNotice(cache);
  if (!notice) return nothing;
  return html`<div class="cold-line" role="note">
    ${icon('clock')}<span>${notice.text}</span>
    ${
      notice.compact === null
        ? nothing
        : html`<button type="button" class="link-button" ?disabled=${!canCompact} @click=${ask({ method: 'compact' })}>${notice.compact}</button>`
    }
  </div>`;
}
