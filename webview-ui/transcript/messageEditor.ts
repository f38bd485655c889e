import { html, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import { EditEvent, UnsentEvent } from '../lib/events';
import { unsentEdits } from '../lib/unsent';
import { ViewElement } from '../lib/viewElement';

/** A message of the user's, in its own row, to be written anew. */
export class MessageEditor extends ViewElement {
  static override properties = {
    entry: { attribute: false },
    text: { attribute: false },
    canSend: { attribute: false },
    done: { attribute: false },
    sending: { state: true },
  };
  entry = '';
  /** As it was sent. */
  text = '';
  canSend = true;
  done: () => void = () => undefined;
  private sending = false;

  protected override render(): TemplateResult {
    return html`
      <div class="message-editor">
        <textarea rows="2" aria-label=${t('Edit your message')} ?disabled=${this.sending} @input=${this.changed} @keydown=${this.keydown}></textarea>
        <p class="remark">${t('Starts a new branch. The old one stays.')}</p>
        <div class="actions">
          <vscode-button ?disabled=${this.sending || !this.canSend} @click=${this.send}>${this.sending ? t('Sending…') : t('Send')}</vscode-button>
          <vscode-button appearance="secondary" ?disabled=${this.sending} @click=${this.cancel}>${t('Cancel')}</vscode-button>
        </div>
      </div>
    `;
  }

  protected override firstUpdated(): void {
    const { area } = this;
    area.value = unsentEdits.get(this.entry) ?? this.text;
    // One that comes back into the document while the reader is elsewhere takes no focus.
    if (!unsentEdits.has(this.entry)) {
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
    }
    unsentEdits.set(this.entry, area.value);
  }

  private get area(): HTMLTextAreaElement {
    return this.querySelector('textarea')!;
  }

  private readonly changed = (): void => {
    unsentEdits.set(this.entry, this.area.value);
    this.dispatchEvent(new UnsentEvent());
  };

  private readonly keydown = (event: KeyboardEvent): void => {
    // 229 is what a key has that an input method is still working on, also where isComposing is already false.
    if (event.isComposing || event.keyCode === 229) return event.stopPropagation();
    if (event.key === 'Escape') {
      event.preventDefault();
      this.cancel();
    } else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send();
    }
  };

  private readonly cancel = (): void => {
    unsentEdits.delete(this.entry);
    this.dispatchEvent(new UnsentEvent());
    this.done();
  };

  private readonly send = (): void => {
    const text = this.area.value;
    if (this.sending || !this.canSend || text.trim() === '') return;
    this.sending = true;
    this.dispatchEvent(
      new EditEvent(this.entry, text, (ok) => {
        this.sending = false;
        if (ok) this.cancel();
      }),
    );
  };
}
