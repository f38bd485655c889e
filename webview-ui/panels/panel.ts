import { html, nothing, type TemplateResult } from 'lit';
import { RequestError } from '../../src/protocol/channel';
import { t } from '../../src/protocol/l10n';
import type { PanelRequest, PanelState } from '../../src/protocol/panels';
import { ViewElement } from '../lib/viewElement';
import { icon } from '../render/icons';
import { messageLine } from '../render/messageLine';

/** A panel in the editor area: shows what the host says it is, carries requests, and says what went wrong. */
export class PanelView extends ViewElement {
  static override properties = { state: { state: true }, problem: { state: true }, remark: { state: true }, announcement: { state: true } };
  request!: (request: PanelRequest) => Promise<unknown>;
  private state: PanelState | null = null;
  private problem: string | null = null;
  private remark: string | null = null;
  private announcement = '';

  constructor() {
    super();
    this.addEventListener('tk-panel-ask', (event) => void this.ask(event.request));
  }

  show(state: PanelState): void {
    this.state = state;
  }

  protected override render(): TemplateResult {
    const { state } = this;
    if (!state) return html`<main class="connecting"><p>${t('Reading your history…')}</p></main>`;
    return html`
      <main>
        ${this.problem === null ? nothing : messageLine('problem', this.problem, () => (this.problem = null))}
        ${this.remark === null ? nothing : messageLine('remark', this.remark, () => (this.remark = null))}
        ${page(state)}
      </main>
      <div class="sr-only" role="status" aria-live="polite">${this.announcement}</div>
    `;
  }

  private async ask(request: PanelRequest): Promise<void> {
    this.problem = null;
    this.remark = null;
    try {
      const reply = await this.request(request);
      // Why there was nothing to do.
      if (typeof reply === 'string') this.remark = reply;
      this.announcement = this.remark ?? doneText[request.method]?.() ?? '';
    } catch (error) {
      this.problem = RequestError.is(error) ? error.message : t('The answer was not understood.');
    }
  }
}

const doneText: Partial<Record<PanelRequest['method'], () => string>> = {
  compact: () => t('The conversation was compacted.'),
  checkpoint: () => t('The snapshot is saved.'),
  undo_compaction: () => t('The last compaction was undone.'),
  pin: () => t('Pinned.'),
  unpin: () => t('Unpinned.'),
};

function page(state: PanelState): TemplateResult {
  switch (state.panel) {
    case 'breakdown':
      return html`<tk-breakdown .state=${state}></tk-breakdown>`;
    case 'analytics':
      return html`<tk-analytics .state=${state}></tk-analytics>`;
    case 'failed':
      return html`<h1>Threadkeeper</h1><p class="problem" role="alert">${icon('error')}<span>${t('This could not be read from your history. {0}', state.message)}</span></p>`;
  }
}

/** What an element of a panel wants of the host. */
export class PanelAskEvent extends Event {
  static readonly type = 'tk-panel-ask';
  constructor(readonly request: PanelRequest) {
    super(PanelAskEvent.type, { bubbles: true });
  }
}

declare global {
  interface GlobalEventHandlersEventMap {
    'tk-panel-ask': PanelAskEvent;
  }
}
