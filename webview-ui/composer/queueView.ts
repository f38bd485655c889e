import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { attachmentTitle } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import type { ViewSnapshot } from '../../src/protocol/messages';
import { AnnounceEvent, AskEvent, LateEditEvent, UnsentEvent } from '../lib/events';
import { unsentQueued } from '../lib/unsent';
import { ViewElement } from '../lib/viewElement';
import { icon, type IconName } from '../render/icons';

type Queued = ViewSnapshot['queue'][number];
type Direction = 'up' | 'down';

const dragged = 'application/x-threadkeeper-queued';

/** Messages that wait for the running turn to end, in the order in which they are sent. */
export class QueueView extends ViewElement {
  static override properties = {
    session: { attribute: false },
    queue: { attribute: false },
    editing: { state: true },
    dragging: { state: true },
    target: { state: true },
  };
  session: string | null = null;
  queue: ViewSnapshot['queue'] = [];
  private editing: string | null = null;
  /** What is being dragged, and the message in front of which it would be dropped; null: behind all. */
  private dragging: string | null = null;
  private target: string | null = null;
  /** The button that moved a message keeps the focus in its new place. */
  private moved: { readonly id: string; readonly direction: Direction } | null = null;

  protected override willUpdate(changed: PropertyValues): void {
    if (!changed.has('queue') && !changed.has('session')) return;
    const kept = [...unsentQueued].filter(([, { session }]) => session === this.session).map(([id]) => id);
    if (changed.has('session')) this.editing = kept.findLast((id) => this.has(id)) ?? null;
    const { editing, moved } = this;
    if (this.dragging !== null && !this.has(this.dragging)) this.dragging = null;
    const before = changed.has('session') ? [] : ((changed.get('queue') ?? []) as ViewSnapshot['queue']);
    for (const id of new Set([...kept, ...(editing === null ? [] : [editing])]))
      if (!this.has(id)) this.goneWhileEdited(id, before.find((one) => one.id === id)?.text ?? null);
    const at = moved ? this.queue.findIndex(({ id }) => id === moved.id) : -1;
    if (at >= 0) this.announce(t('Moved to place {0} of {1}', at + 1, this.queue.length));
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.queue.length === 0) return nothing;
    return html`
      <ol
        class="queue ${this.dragging === null ? '' : 'dragging'}"
        aria-label=${t('Queued messages')}
        @dragover=${this.draggedOver}
        @drop=${this.dropped}
        @dragend=${() => (this.dragging = null)}
      >
        ${repeat(
          this.queue,
          ({ id }) => id,
          (message, at) => (message.id === this.editing ? this.editor(message) : this.row(message, at)),
        )}
      </ol>
    `;
  }

  protected override updated(changed: PropertyValues): void {
    const { moved } = this;
    if (moved && changed.has('queue')) {
      this.moved = null;
      const [first, second] = moved.direction === 'up' ? ['up', 'down'] : ['down', 'up'];
      const button = (direction: string | undefined) =>
        this.querySelector<HTMLElement>(`li[data-id="${CSS.escape(moved.id)}"] .move-${direction}:not(:disabled)`);
      (button(first) ?? button(second))?.focus();
    }
    const area = this.querySelector('textarea');
    if (changed.has('editing') && area) {
      const { editing } = this;
      area.value = (unsentQueued.get(editing ?? '') ?? this.queue.find(({ id }) => id === editing))?.text ?? '';
      // One that comes back with its session takes no focus.
      if (changed.has('session')) return;
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
    }
  }

  private row({ id, text, attachments = [] }: Queued, at: number): TemplateResult {
    const count = this.queue.length;
    const short = text.slice(0, 60);
    const isTarget = this.dragging !== null && this.target === id;
    const isLastTarget = this.dragging !== null && this.target === null && at === count - 1;
    return html`<li
      class="chip ${isTarget ? 'drop-before' : ''} ${isLastTarget ? 'drop-behind' : ''}"
      data-id=${id}
      draggable=${count > 1 ? 'true' : 'false'}
      @dragstart=${(event: DragEvent) => this.dragStarted(event, id)}
    >
      <span class="chip-kind">${t('Queued')}</span>
      <span class="chip-text" title=${text.slice(0, 1000)}>${text.slice(0, 200)}</span>
      ${attachments.length === 0 ? nothing : html`<span class="chip-kind">${attachments.length === 1 ? attachmentTitle(attachments[0]!) : t('{0} attachments', attachments.length)}</span>`}
      <span class="queue-actions">
        ${
          count === 1
            ? nothing
            : html`${this.mover(id, 'up', at === 0, t('Move up'), t('Move up queued message: {0}', short))}
              ${this.mover(id, 'down', at === count - 1, t('Move down'), t('Move down queued message: {0}', short))}`
        }
        ${button('edit', t('Edit'), t('Edit queued message: {0}', short), () => (this.editing = id))}
        ${button('send', t('Stop the answer and send now'), t('Stop the answer and send now: {0}', short), () => this.ask({ method: 'send_queued', id }))}
        ${button('close', t('Remove'), t('Remove queued message: {0}', short), () => this.ask({ method: 'unqueue', id }))}
      </span>
    </li>`;
  }

  private mover(id: string, direction: Direction, disabled: boolean, title: string, label: string): TemplateResult {
    const act = (): void => {
      this.moved = { id, direction };
      const ids = this.queue.map((one) => one.id);
      const at = ids.indexOf(id);
      this.ask({ method: 'move_queued', id, before: (direction === 'up' ? ids[at - 1] : ids[at + 2]) ?? null });
    };
    return html`<button type="button" class="icon-button move-${direction}" title=${title} aria-label=${label} ?disabled=${disabled} @click=${act}>
      ${icon(direction === 'up' ? 'arrowUp' : 'arrowDown')}
    </button>`;
  }

  private editor({ id, attachments = [] }: Queued): TemplateResult {
    const save = (): void => {
      const text = this.querySelector('textarea')?.value ?? '';
      if (text.trim() === '' && attachments.length === 0) return;
      // What is sent in this moment would be given back otherwise.
      if (text !== this.queue.find((one) => one.id === id)?.text) this.ask({ method: 'edit_queued', id, text });
      this.close(id);
    };
    const keydown = (event: KeyboardEvent): void => {
      // 229 is what a key has that an input method is still working on, also where isComposing is already false.
      if (event.isComposing || event.keyCode === 229) return event.stopPropagation();
      const isSaved = event.key === 'Enter' && !event.shiftKey && !event.altKey;
      if (!isSaved && event.key !== 'Escape') return;
      event.preventDefault();
      if (isSaved) save();
      else this.close(id);
    };
    return html`<li class="chip queue-editor" data-id=${id}>
      <textarea rows="2" aria-label=${t('Edit queued message')} @input=${(event: Event) => this.keep(id, (event.target as HTMLTextAreaElement).value)} @keydown=${keydown}></textarea>
      <span class="actions">
        <vscode-button @click=${save}>${t('Save')}</vscode-button>
        <vscode-button appearance="secondary" @click=${() => this.close(id)}>${t('Cancel')}</vscode-button>
      </span>
    </li>`;
  }

  private keep(id: string, text: string): void {
    if (this.session !== null) unsentQueued.set(id, { session: this.session, text });
    this.dispatchEvent(new UnsentEvent());
  }

  private forget(id: string): void {
    unsentQueued.delete(id);
    this.dispatchEvent(new UnsentEvent());
  }

  private close(id: string): void {
    this.editing = null;
    this.forget(id);
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(`li[data-id="${CSS.escape(id)}"] .queue-edit`)?.focus());
  }

  /** What has been written since goes to the composer, unless it is nothing new. */
  private goneWhileEdited(id: string, original: string | null): void {
    const text = unsentQueued.get(id)?.text ?? this.querySelector('textarea')?.value ?? '';
    if (this.editing === id) this.editing = null;
    this.forget(id);
    if (text !== original && text.trim() !== '') this.dispatchEvent(new LateEditEvent(text, original));
  }

  private dragStarted(event: DragEvent, id: string): void {
    if (!event.dataTransfer) return;
    event.dataTransfer.setData(dragged, id);
    event.dataTransfer.effectAllowed = 'move';
    this.dragging = id;
    this.target = id;
  }

  private readonly draggedOver = (event: DragEvent): void => {
    if (this.dragging === null || !event.dataTransfer) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'move';
    const rows = [...this.querySelectorAll<HTMLElement>('li')];
    const below = rows.find((row) => {
      const { top, height } = row.getBoundingClientRect();
      return event.clientY < top + height / 2;
    });
    this.target = below?.dataset['id'] ?? null;
  };

  private readonly dropped = (event: DragEvent): void => {
    const { dragging: id, target } = this;
    if (id === null) return;
    event.preventDefault();
    this.dragging = null;
    const next = this.queue[this.queue.findIndex((one) => one.id === id) + 1]?.id ?? null;
    if (target !== id && target !== next) this.ask({ method: 'move_queued', id, before: target });
  };

  private has(id: string): boolean {
    return this.queue.some((one) => one.id === id);
  }

  private announce(text: string): void {
    this.dispatchEvent(new AnnounceEvent(text));
  }

  private ask(request: AskEvent['request']): void {
    this.dispatchEvent(new AskEvent(request));
  }
}

function button(name: IconName & ('edit' | 'send' | 'close'), title: string, label: string, act: () => void): TemplateResult {
  return html`<button type="button" class="icon-button queue-${name}" title=${title} aria-label=${label} @click=${act}>${icon(name)}</button>`;
}
