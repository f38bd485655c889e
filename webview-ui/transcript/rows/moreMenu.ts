import { html, type TemplateResult } from 'lit';
import type { ViewRequest } from '../../../src/protocol/messages';
import { ask } from '../../lib/events';
import { icon } from '../../render/icons';

export interface MenuItem {
  readonly label: string;
  readonly request: ViewRequest;
  readonly disabled?: boolean;
}

/** What is seldom wanted, behind ⋯. Opens below its button, or above it where there is no room; the arrow keys go through it. */
export function moreMenu(label: string, items: readonly MenuItem[], tabIndex = 0): TemplateResult {
  return html`<span class="more">
    <button type="button" class="icon-button" tabindex=${tabIndex} title=${label} aria-label=${label} aria-haspopup="menu" @click=${toggle}>${icon('more')}</button>
    <div popover class="more-menu" role="menu" aria-label=${label} @keydown=${move}>
      ${items.map(
        (item) => html`<button
          type="button"
          role="menuitem"
          tabindex="-1"
          ?disabled=${item.disabled ?? false}
          @click=${(event: Event) => {
            popoverOf(event)?.hidePopover();
            ask(item.request)(event);
          }}
        >${item.label}</button>`,
      )}
    </div>
  </span>`;
}

function popoverOf(event: Event): HTMLElement | null {
  return (event.currentTarget as Element).closest('.more')?.querySelector<HTMLElement>('.more-menu') ?? null;
}

/** The focus goes into the menu at once: its `toggle` event comes later, and a key that is pressed before that would go elsewhere. */
function toggle(event: Event): void {
  const menu = popoverOf(event);
  menu?.togglePopover();
  if (menu?.matches(':popover-open')) menu.querySelector<HTMLElement>('button:not([disabled])')?.focus();
}

function move(event: KeyboardEvent): void {
  const menu = event.currentTarget as HTMLElement;
  const items = [...menu.querySelectorAll<HTMLElement>('button:not([disabled])')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  if (event.key === 'Escape') {
    event.stopPropagation();
    event.preventDefault();
    menu.hidePopover();
    menu.closest('.more')?.querySelector('button')?.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  items[(at + step + items.length) % items.length]?.focus();
}
