import { html, nothing, type TemplateResult } from 'lit';
import { Debounce } from '../debounce';
import { AskEvent } from '../events';
import { icon } from '../render/icons';
import { uuidV7 } from '../uuid';
import { ViewElement } from './viewElement';

/** From here on the box has a fixed height: measuring the text for every key would cost more than the key itself. */
const fixedHeightFrom = 20_000;

/** Where the user writes. The text lives in the text area alone; rendering never depends on it but for "is there any". */
export class ComposerView extends ViewElement {
  static override properties = {
    busy: { attribute: false },
    stopping: { attribute: false },
    disabledReason: { attribute: false },
    placeholder: { attribute: false },
    notice: { attribute: false },
    hasText: { state: true },
  };
  busy = false;
  stopping = false;
  /** Why nothing can be sent; null when it can. */
  disabledReason: string | null = null;
  placeholder = '';
  /** A standing remark on what answers, as in offline mode. */
  notice: string | null = null;
  private hasText = false;
  private pendingText: string | null = null;

  private readonly save = new Debounce<string>(300, (text) => this.ask({ method: 'save_draft', text }));
  private readonly measure = new Debounce<string>(600, (text) => this.ask({ method: 'measure_draft', text }));
  private readonly viewHidden = (): void => this.flush();

  get text(): string {
    return this.area?.value ?? this.pendingText ?? '';
  }

  /** Replaces what is written, without telling the host, which knows. */
  setText(text: string): void {
    this.save.cancel();
    this.measure.cancel();
    this.put(text);
  }

  /** Puts a text back in front of the user without losing what has been written since. */
  giveBack(text: string): void {
    const written = this.text;
    this.put(written.trim() === '' ? text : `${text}\n\n${written}`);
    this.textChanged();
    this.focusEnd();
  }

  focusEnd(): void {
    const area = this.area;
    area?.focus();
    area?.setSelectionRange(area.value.length, area.value.length);
  }

  /** Saves at once what is not saved yet, as before another session is opened or the view is hidden. */
  flush(): void {
    this.save.flush();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.viewHidden);
    window.addEventListener('pagehide', this.viewHidden);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.viewHidden);
    window.removeEventListener('pagehide', this.viewHidden);
    this.flush();
  }

  protected override render(): TemplateResult {
    const disabled = this.disabledReason !== null;
    return html`
      <div class="composer ${disabled ? 'disabled' : ''}">
        <textarea
          rows="1"
          aria-label="Message"
          aria-describedby="composer-hint"
          placeholder=${this.disabledReason ?? this.placeholder}
          ?disabled=${disabled}
          @input=${this.textChanged}
          @keydown=${this.keydown}
          @blur=${() => this.flush()}
        ></textarea>
        <div class="composer-bar">
          <span id="composer-hint" class="composer-notice">${this.notice ?? ''}</span>
          ${this.busy
            ? html`<vscode-button
                appearance="icon"
                class="stop"
                title="Stop (Escape)"
                aria-label="Stop"
                ?disabled=${this.stopping}
                @click=${() => this.ask({ method: 'stop' })}
                >${icon('stop')}</vscode-button
              >`
            : nothing}
          <vscode-button
            appearance="icon"
            class="send"
            title=${this.busy ? 'Queue message (Enter)' : 'Send message (Enter)'}
            aria-label=${this.busy ? 'Queue message' : 'Send message'}
            ?disabled=${disabled || !this.hasText}
            @click=${this.send}
            >${icon('send')}</vscode-button
          >
        </div>
      </div>
    `;
  }

  protected override updated(): void {
    if (this.pendingText !== null && this.area) this.put(this.pendingText);
  }

  private get area(): HTMLTextAreaElement | null {
    return this.querySelector('textarea');
  }

  private put(text: string): void {
    const area = this.area;
    this.pendingText = area ? null : text;
    if (area) {
      area.value = text;
      area.classList.toggle('long', text.length > fixedHeightFrom);
    }
    this.hasText = text.trim() !== '';
  }

  private readonly textChanged = (): void => {
    const area = this.area;
    if (!area) return;
    const { value } = area;
    area.classList.toggle('long', value.length > fixedHeightFrom);
    this.hasText = /\S/.test(value);
    this.save.call(() => area.value);
    this.measure.call(() => area.value);
  };

  private readonly keydown = (event: KeyboardEvent): void => {
    // 229 is what a key has that an input method is still working on, also where isComposing is already false.
    if (event.isComposing || event.keyCode === 229) {
      event.stopPropagation();
      return;
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send();
    }
  };

  private readonly send = (): void => {
    const text = this.text;
    if (this.disabledReason !== null || text.trim() === '') return;
    this.setText('');
    this.ask({ method: 'send', id: uuidV7(), text });
    this.area?.focus();
  };

  private ask(request: AskEvent['request']): void {
    this.dispatchEvent(new AskEvent(request));
  }
}
