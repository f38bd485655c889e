import { html, nothing, type TemplateResult } from 'lit';
import type { ViewSnapshot } from '../../src/protocol/messages';
import { AskEvent } from '../events';
import { icon } from '../render/icons';
import { ViewElement } from './viewElement';

/** Messages that wait for the running turn to end. Taking one back puts its text into the composer. */
export class QueueView extends ViewElement {
  static override properties = { queue: { attribute: false } };
  queue: ViewSnapshot['queue'] = [];

  protected override render(): TemplateResult | typeof nothing {
    if (this.queue.length === 0) return nothing;
    return html`
      <ul class="queue" aria-label="Queued messages">
        ${this.queue.map(
          ({ id, text }) => html`<li class="chip">
            <span class="chip-kind">Queued</span>
            <span class="chip-text">${text.slice(0, 200)}</span>
            <button
              type="button"
              class="icon-button"
              title="Take back"
              aria-label="Take back queued message: ${text.slice(0, 60)}"
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
