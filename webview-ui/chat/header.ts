import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { t } from '../../src/protocol/l10n';
import type { SessionHeader, ViewSnapshot } from '../../src/protocol/messages';
import { AskEvent } from '../lib/events';
import { ago } from '../../src/protocol/figures';
import { icon } from '../render/icons';
import { ViewElement } from '../lib/viewElement';

/** The title, and the ways to other conversations: one line, however narrow the view is. */
export class HeaderView extends ViewElement {
  static override properties = {
    session: { attribute: false },
    sessions: { attribute: false },
    renaming: { state: true },
    filter: { state: true },
    openedAt: { state: true },
  };
  session: SessionHeader | null = null;
  sessions: ViewSnapshot['sessions'] = [];
  private renaming = false;
  private filter = '';
  private openedAt = 0;
  /** The sessions as they stood when the list was opened: a row does not move away under the pointer when a session is used meanwhile. */
  private order: readonly string[] = [];

  protected override render(): TemplateResult {
    return html`
      <div class="header-line">
        ${this.renaming ? this.renameField() : this.titleButton()}
        <div class="header-buttons">
          <button type="button" class="icon-button" title=${t('Sessions')} aria-label=${t('Sessions')} popovertarget="sessions">${icon('clock')}</button>
          <button
            type="button"
            class="icon-button"
            title=${t('New session')}
            aria-label=${t('New session')}
            @click=${() => this.ask({ method: 'new_session' })}
          >
            ${icon('add')}
          </button>
        </div>
      </div>
      <div id="sessions" popover class="sessions" role="dialog" aria-label=${t('Sessions')} @toggle=${this.toggled} @keydown=${this.moveInList}>
        ${this.openedAt > 0 ? this.sessionList() : nothing}
      </div>
    `;
  }

  private titleButton(): TemplateResult {
    const title = this.session?.title || t('New session');
    if (!this.session) return html`<h1 class="title">${title}</h1>`;
    return html`<h1 class="title">
      <button type="button" class="title-button" title=${t('Rename session {0}', this.session.id)} @click=${this.startRename}>
        <span>${title}</span><span class="sr-only">${t(', rename')}</span>${icon('edit')}
      </button>
    </h1>`;
  }

  private renameField(): TemplateResult {
    return html`<h1 class="title"><vscode-text-field
      class="rename"
      aria-label=${t('Session title')}
      .value=${this.session?.title ?? ''}
      @keydown=${(event: KeyboardEvent) => {
        if (event.isComposing) return;
        if (event.key !== 'Enter' && event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        this.endRename(event.key === 'Enter');
        void this.updateComplete.then(() => this.querySelector<HTMLElement>('.title-button')?.focus());
      }}
      @focusout=${() => this.endRename(true)}
    ></vscode-text-field></h1>`;
  }

  private readonly startRename = async (): Promise<void> => {
    this.renaming = true;
    await this.updateComplete;
    const field = this.querySelector<HTMLElement & { select?: () => void }>('vscode-text-field.rename');
    // The field's own input is there one frame later.
    requestAnimationFrame(() => {
      field?.focus();
      field?.shadowRoot?.querySelector('input')?.select();
    });
  };

  private endRename(save: boolean): void {
    if (!this.renaming) return;
    const title = this.querySelector<HTMLElement & { value: string }>('vscode-text-field.rename')?.value.trim() ?? '';
    this.renaming = false;
    if (save && title && title !== this.session?.title) this.ask({ method: 'rename_session', title });
  }

  private sessionList(): TemplateResult {
    const wanted = this.filter.trim().toLowerCase();
    const listed = new Set(this.order);
    const inOrder = [
      ...this.order.flatMap((uuid) => this.sessions.find((s) => s.uuid === uuid) ?? []),
      ...this.sessions.filter(({ uuid }) => !listed.has(uuid)),
    ];
    const found = inOrder.filter((s) => `${s.title} ${s.id}`.toLowerCase().includes(wanted));
    return html`
      ${
        this.sessions.length > 7
          ? html`<vscode-text-field
            class="session-filter"
            placeholder=${t('Filter')}
            aria-label=${t('Filter sessions')}
            .value=${this.filter}
            @input=${(event: Event) => (this.filter = (event.target as HTMLInputElement).value)}
          ></vscode-text-field>`
          : nothing
      }
      ${
        found.length === 0
          ? html`<p class="sessions-empty">${this.sessions.length === 0 ? t('No sessions yet.') : t('No session with this title.')}</p>`
          : html`<ul>
            ${repeat(
              found,
              ({ uuid }) => uuid,
              (s) => this.sessionItem(s),
            )}
          </ul>`
      }
    `;
  }

  private sessionItem(session: ViewSnapshot['sessions'][number]): TemplateResult {
    const current = session.uuid === this.session?.uuid;
    return html`<li>
      <button
        type="button"
        class="session-item"
        aria-current=${current ? 'true' : nothing}
        @click=${() => {
          this.querySelector<HTMLElement>('#sessions')?.hidePopover();
          if (!current) this.ask({ method: 'open_session', uuid: session.uuid });
        }}
      >
        <span class="session-title">${session.title || session.id}</span>
        <span class="session-time">${current ? t('open') : ago(session.updatedAt, this.openedAt)}</span>
      </button>
    </li>`;
  }

  private readonly toggled = (event: ToggleEvent): void => {
    this.openedAt = event.newState === 'open' ? Date.now() : 0;
    this.filter = '';
    this.order = this.sessions.map(({ uuid }) => uuid);
    if (event.newState === 'open') {
      void this.updateComplete.then(() => this.querySelector<HTMLElement>('.session-filter, .session-item')?.focus());
    }
  };

  private readonly moveInList = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') event.stopPropagation();
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const items = [...this.querySelectorAll<HTMLElement>('.session-item')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[Math.max(0, Math.min(items.length - 1, at + step))]?.focus();
  };

  private ask(request: AskEvent['request']): void {
    this.dispatchEvent(new AskEvent(request));
  }
}
