import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import {
  isBlank,
  mostAttachments,
  nothingWritten,
  type ArgumentChoice,
  type Attachment,
  type AttachSource,
  type Mention,
  type Written,
} from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import type { Connection, Delta, Mode } from '../../src/protocol/messages';
import { isSlashName, parseSlash, type SlashName } from '../../src/protocol/slashCommands';
import { Debounce } from '../lib/debounce';
import { AnnounceEvent, AskEvent } from '../lib/events';
import type { Host } from '../lib/host';
import { icon } from '../render/icons';
import { Completions, choiceId, completionListId, completionMenu, type CompletionsHost, type Trigger } from './completions';
import { uuidV7 } from '../lib/uuid';
import { attachmentList } from './attachmentList';
import { modeButton } from './planMode';
import { isDropped, sourcesOf } from './dropped';
import { ViewElement } from '../lib/viewElement';
import { withoutMessage } from './withoutMessage';

/** From here on the box has a fixed height: measuring the text for every key would cost more than the key itself. */
const fixedHeightFrom = 20_000;

/** Where the user writes. The text lives in the text area alone; rendering never depends on it but for "is there any". */
export class ComposerView extends ViewElement implements CompletionsHost {
  static override properties = {
    session: { attribute: false },
    busy: { attribute: false },
    stopping: { attribute: false },
    disabledReason: { attribute: false },
    connection: { attribute: false },
    placeholder: { attribute: false },
    notice: { attribute: false },
    lastSent: { attribute: false },
    mode: { attribute: false },
    hasText: { state: true },
    isCut: { state: true },
    attachments: { state: true },
    attaching: { state: true },
    trouble: { state: true },
    dropping: { state: true },
  };
  host!: Pick<Host, 'measureDraft' | 'attach' | 'attachMenu' | 'mentions' | 'argumentsOf'>;
  /** The draft belongs to this session; null stands for one that has not begun. */
  session: string | null = null;
  busy = false;
  stopping = false;
  /** Why nothing can be sent; null when it can. */
  disabledReason: string | null = null;
  connection!: Connection;
  placeholder = '';
  /** A standing remark on what answers, as in offline mode. */
  notice: string | null = null;
  mode: Mode = 'chat';
  /** What the up arrow brings back into an empty composer. */
  lastSent = '';
  /** What it brings back first: a message that was taken out of the queue. */
  private removed: Written | null = null;
  private attachments: readonly Attachment[] = [];
  /** How many are on their way to becoming attachments. */
  private attaching = 0;
  /** How many drafts have been shown, so that what was attached to one does not land in another. */
  private drafts = 0;
  /** Why something was not attached or not understood. */
  private trouble: string | null = null;
  private dropping = false;
  private readonly completions = new Completions(this);
  private hasText = false;
  /** Some of it is too long to be sent whole. */
  private isCut = false;
  private pendingText: string | null = null;

  /** What the host knows of the text. */
  private known = '';
  private readonly save = new Debounce<Written>(300, (written) => this.tell(written));
  private readonly measure = new Debounce<Written>(600, (written) => void this.measured(written));
  private readonly viewHidden = (): void => this.flush();

  get text(): string {
    return this.area?.value ?? this.pendingText ?? '';
  }

  get written(): Written {
    return { text: this.text, attachments: this.attachments };
  }

  /** Nothing is written, attached, or on its way to being attached. */
  get isEmpty(): boolean {
    return isBlank(this.written) && this.attaching === 0;
  }

  get caret(): number {
    const { area } = this;
    return area && area.selectionStart === area.selectionEnd ? area.selectionStart : -1;
  }

  /** Replaces what is written, without telling the host, which knows. */
  private setWritten({ text, attachments }: Written, remark: string | null = null): void {
    this.save.cancel();
    this.measure.cancel();
    this.completions.close();
    this.attachments = attachments;
    this.trouble = remark;
    this.isCut = false;
    this.known = text;
    this.put(text);
  }

  /** The draft of another session takes the place of what is written. */
  openDraft(written: Written, remark?: string): void {
    this.drafts += 1;
    this.attaching = 0;
    this.removed = null;
    this.setWritten(written, remark);
    if (!isBlank(written)) this.measure.call(() => this.written);
  }

  /** What the host has for the composer. What it has not heard of yet stays, behind what is new. The gauge follows. */
  takeDraft({ text, attachments = [], replaces }: Extract<Delta, { kind: 'draft' }>): void {
    if (replaces !== undefined && replaces !== this.text) return;
    const { known, written } = this;
    this.setWritten({ text, attachments });
    if (replaces === undefined && written.text !== known && !isBlank(written)) this.putBehind(written, known);
    this.measure.call(() => this.written);
  }

  /** What was written where the host knew of `known` only, which stands at the end of what it has sent. */
  private putBehind({ text, attachments }: Written, known: string): void {
    const before = this.text;
    if (before.endsWith(text)) return;
    const front = known !== '' && before.endsWith(known) ? before.slice(0, -known.length) : before === '' ? '' : `${before}\n\n`;
    const here = this.attachments;
    this.attachments = [...here, ...attachments.filter((one) => !here.some(({ hash, name }) => hash === one.hash && name === one.name))];
    this.put(`${front}${text}`);
    this.save.call(() => this.written);
  }

  /** Puts a message back in front of the user, `instead` of one that stands there, without losing what has been written since. */
  giveBack({ text, attachments }: Written, instead: string | null = null): void {
    const before = (instead === null ? null : withoutMessage(this.text, instead)) ?? this.text;
    this.attachments = [...attachments, ...this.attachments];
    this.put(before.trim() === '' ? text : text === '' ? before : `${text}\n\n${before}`);
    this.textChanged();
    this.focusEnd();
  }

  /** The up arrow brings it back into the empty composer. */
  recallable(removed: Written): void {
    this.removed = removed;
    this.focusEnd();
  }

  addAttachment(attachment: Attachment): void {
    const isThere = this.attachments.some(
      (one) => one.hash === attachment.hash && one.name === attachment.name && one.path === attachment.path,
    );
    if (!isThere && this.attachments.length >= mostAttachments) this.trouble = t('A message takes {0} attachments.', mostAttachments);
    else if (!isThere) this.attachments = [...this.attachments, attachment];
    this.changed();
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
    const { choices, active } = this.completions;
    return html`
      ${completionMenu(choices, active)}
      ${
        this.trouble === null
          ? nothing
          : html`<div class="problem" role="alert">
            ${icon('error')}<span>${this.trouble}</span>
            <button type="button" class="icon-button" title=${t('Dismiss')} aria-label=${t('Dismiss')} @click=${() => (this.trouble = null)}>${icon('close')}</button>
          </div>`
      }
      <div class="composer ${disabled ? 'disabled' : ''} ${this.dropping ? 'dropping' : ''}" @dragover=${this.dragged} @dragleave=${() => (this.dropping = false)} @drop=${this.dropped}>
        ${attachmentList(this.attachments, disabled ? null : this.takeOut)}
        ${this.attaching === 0 ? nothing : html`<p class="composer-remark" role="status">${t('Attaching…')}</p>`}
        <textarea
          rows="1"
          aria-label=${t('Message')}
          aria-describedby="composer-hint"
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls=${choices.length > 0 ? completionListId : nothing}
          aria-activedescendant=${choices.length > 0 ? choiceId(active) : nothing}
          placeholder=${this.disabledReason ?? this.placeholder}
          ?disabled=${disabled}
          @input=${this.typed}
          @compositionend=${this.typed}
          @keydown=${this.keydown}
          @keyup=${this.caretMoved}
          @click=${this.caretMoved}
          @paste=${this.pasted}
          @blur=${this.left}
        ></textarea>
        ${this.isCut ? html`<p class="composer-remark">${tooLong()}</p>` : nothing}
        <div class="composer-bar">
          <vscode-button appearance="icon" class="add-context" title=${t('Add context… (@ or #)')} aria-label=${t('Add context')} ?disabled=${disabled} @click=${() => void this.openMenu()}
            >${icon('paperclip')}</vscode-button
          >
          <button
            type="button"
            class="model-button"
            title=${t('Select model')}
            aria-label=${t('Model: {0}. Select another', this.connection.modelName)}
            @click=${() => this.ask({ method: 'select_model' })}
          >
            ${this.connection.provider === 'offline' ? html`<span class="offline-dot" aria-hidden="true"></span>` : nothing}
            <span>${this.connection.modelName}</span>${icon('chevronDown')}
          </button>
          ${modeButton(this.mode, disabled)}
          <span id="composer-hint" class="composer-notice">${this.hint(disabled)}</span>
          ${
            this.busy
              ? html`<vscode-button
                appearance="icon"
                class="stop"
                title=${t('Stop (Escape)')}
                aria-label=${t('Stop')}
                ?disabled=${this.stopping}
                @click=${() => this.ask({ method: 'stop' })}
                >${icon('stop')}</vscode-button
              >`
              : nothing
          }
          <vscode-button
            appearance="icon"
            class="send"
            title=${this.busy ? t('Queue message (Enter); stop the answer and send now (Ctrl+Enter)') : t('Send message (Enter)')}
            aria-label=${this.busy ? t('Queue message') : t('Send message')}
            ?disabled=${disabled || (!this.hasText && this.attachments.length === 0)}
            @click=${() => this.send()}
            >${icon('send')}</vscode-button
          >
        </div>
      </div>
    `;
  }

  private hint(disabled: boolean): TemplateResult | typeof nothing {
    if (this.notice !== null) {
      const setKey = html`<button type="button" class="link-button" @click=${() => this.ask({ method: 'set_api_key' })}>${t('Set API key…')}</button>`;
      return html`${this.notice} ${this.connection.key === 'missing' ? setKey : nothing}`;
    }
    return disabled || this.hasText ? nothing : html`<span class="composer-keys">${t('@ for context, / for commands')}</span>`;
  }

  protected override updated(changed: PropertyValues<this>): void {
    const before = changed.get('connection');
    // Another model takes another length.
    if (before && before.modelName !== this.connection.modelName && !isBlank(this.written)) this.measure.call(() => this.written);
    if (this.pendingText !== null && this.area) this.put(this.pendingText);
    this.querySelector('.completions .active')?.scrollIntoView({ block: 'nearest' });
  }

  findMentions(query: string): Promise<readonly Mention[]> {
    return this.host.mentions(query);
  }

  findArguments(command: SlashName, query: string): Promise<readonly ArgumentChoice[]> {
    return this.host.argumentsOf(command, query);
  }

  replace({ start, end }: Trigger, text: string): void {
    const { area } = this;
    if (!area) return;
    area.setRangeText(text, start, end, 'end');
    this.textChanged();
  }

  /** Makes an attachment of something; what cannot be one is said in the host's words. Never rejects. */
  attach(source: AttachSource | Promise<AttachSource>): void {
    void this.attached(source);
  }

  announce(text: string): void {
    this.dispatchEvent(new AnnounceEvent(text));
  }

  runSlash(): void {
    this.send();
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
    this.changed();
  };

  private changed(): void {
    this.save.call(() => this.written);
    this.measure.call(() => this.written);
  }

  /** What cannot be measured is shown without its size. */
  private async measured(written: Written): Promise<void> {
    const isCut = await this.host.measureDraft(onWire(written)).catch(() => false);
    if (written.text !== this.text || written.attachments !== this.attachments) return;
    if (isCut && !this.isCut) this.announce(tooLong());
    this.isCut = isCut;
  }

  private readonly typed = (event: Event): void => {
    this.textChanged();
    if (event instanceof InputEvent && event.isComposing) this.completions.close();
    else this.completions.update();
  };

  private readonly caretMoved = (event: Event): void => {
    const moved = !(event instanceof KeyboardEvent) || ['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key);
    if (moved && !(event instanceof KeyboardEvent && event.isComposing)) this.completions.update();
  };

  private async openMenu(): Promise<void> {
    const { drafts } = this;
    this.trouble = null;
    try {
      for (const attachment of await this.host.attachMenu()) this.take(attachment, drafts);
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    }
    this.area?.focus();
  }

  private readonly left = (): void => {
    this.completions.close();
    this.flush();
  };

  private readonly keydown = (event: KeyboardEvent): void => {
    // 229 is what a key has that an input method is still working on, also where isComposing is already false.
    if (event.isComposing || event.keyCode === 229) {
      event.stopPropagation();
      return;
    }
    if (this.completions.keydown(event)) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.send(event.ctrlKey || event.metaKey);
    } else if (event.key === 'ArrowUp' && !event.altKey && this.text === '' && this.removed) {
      event.preventDefault();
      this.giveBack(this.removed);
      this.removed = null;
    } else if (event.key === 'ArrowUp' && !event.altKey && this.text === '' && this.lastSent !== '') {
      event.preventDefault();
      this.put(this.lastSent);
      this.textChanged();
      this.focusEnd();
    }
  };

  private readonly pasted = (event: ClipboardEvent): void => {
    const { clipboardData } = event;
    // Office programs put a picture of the text beside the text.
    if (!clipboardData || clipboardData.getData('text/plain') !== '') return;
    const sources = sourcesOf(clipboardData);
    if (sources.length === 0) return;
    event.preventDefault();
    for (const source of sources) this.attach(source);
  };

  private readonly dragged = (event: DragEvent): void => {
    if (this.disabledReason !== null || !event.dataTransfer || !isDropped(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
    this.dropping = true;
  };

  private readonly dropped = (event: DragEvent): void => {
    this.dropping = false;
    if (this.disabledReason !== null || !event.dataTransfer || !isDropped(event.dataTransfer)) return;
    event.preventDefault();
    for (const source of sourcesOf(event.dataTransfer)) this.attach(source);
    this.area?.focus();
  };

  private readonly takeOut = (attachment: Attachment): void => {
    this.attachments = this.attachments.filter((one) => one !== attachment);
    this.changed();
    this.area?.focus();
  };

  private async attached(source: AttachSource | Promise<AttachSource>): Promise<void> {
    const { drafts } = this;
    this.trouble = null;
    this.attaching += 1;
    try {
      this.take(await this.host.attach(await source), drafts);
    } catch (error) {
      this.trouble = error instanceof Error ? error.message : String(error);
    } finally {
      if (drafts === this.drafts) this.attaching -= 1;
    }
  }

  private take(attachment: Attachment, drafts: number): void {
    if (drafts === this.drafts) this.addAttachment(attachment);
    else this.trouble = t('“{0}” was for the session that was open before. Attach it there again.', attachment.name);
  }

  /** `interrupts`: what runs is stopped for it. */
  private send(interrupts = false): void {
    const { written } = this;
    if (this.disabledReason !== null || isBlank(written)) return;
    // Without what it is about the message would be another one.
    if (this.attaching > 0) return this.announce(t('Something is still being attached.'));
    const slash = this.attachments.length === 0 ? parseSlash(written.text) : null;
    if (slash && !isSlashName(slash.name)) {
      this.trouble = t(
        'There is no command /{0}. Type / alone to see all of them. To send this as a message, put a space in front.',
        slash.name,
      );
      return;
    }
    this.setWritten(nothingWritten);
    // A message takes what was saved of it along; a command is nothing that would be sent.
    if (slash) this.tell(nothingWritten);
    if (slash && isSlashName(slash.name)) this.ask({ method: 'slash', name: slash.name, argument: slash.argument });
    else
      this.ask({
        method: 'send',
        id: uuidV7(),
        session: this.session,
        ...onWire(written),
        ...(interrupts && this.busy ? { interrupts } : {}),
      });
    this.area?.focus();
  }

  private tell(written: Written): void {
    this.known = written.text;
    this.ask({ method: 'save_draft', session: this.session, ...onWire(written) });
  }

  private ask(request: AskEvent['request']): void {
    this.dispatchEvent(new AskEvent(request));
  }
}

function onWire({ text, attachments }: Written): { text: string; attachments?: Attachment[] } {
  return { text, ...(attachments.length > 0 ? { attachments: [...attachments] } : {}) };
}

function tooLong(): string {
  return t('Very long: the model is sent its beginning and end.');
}
