import { html, nothing, type TemplateResult } from 'lit';
import { attachmentTitle } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import type { ViewSnapshot } from '../../src/protocol/messages';
import { AskEvent } from '../lib/events';
import { icon } from '../render/icons';
import { ViewElement } from '../lib/viewElement';

/** Messages that wait for the running turn to end. Taking one back puts its text into the composer. */
export class QueueView extends ViewElement {
  static override properties = { queue: { attribute: false } };
  queue: ViewSnapshot['queue'] = [];

  protected override render(): TemplateResult | typeof nothing {
    if (this.queue.length === 0) return nothing;
    return html`
      <ul class="queue" aria-label=${t('Queued messages')}>
        ${this.queue.map(
          ({ id, text, attachments = [] }) => html`<li class="chip">
            <span class="chip-kind">${t('Queued')}</span>
            <span class="chip-text">${text.slice(0, 200)}</span>
            ${attachments.length === 0 ? nothing : html`<span class="chip-kind">${attachments.length === 1 ? attachmentTitle(attachments[0]!) : t('{0} attachments', attachments.length)}</span>`}
            <button
              type="button"
              class="icon-button"
              title=${t('Take back')}
              aria-label=${t('Take back queued message: {0}', text.slice(0, 60))}
              @click=${() => this.dispatchEvent(new AskEvent({ method: 'unqueue', id }))}
            >
              ${icon('close')}
            </button>
          </li>`,
        )}
      </ul>
    `;
  }
}
