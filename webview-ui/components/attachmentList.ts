import { html, nothing, type TemplateResult } from 'lit';
import { attachmentTitle, type Attachment } from '../../src/protocol/composer';
import { AskEvent } from '../events';
import { tokens } from '../format';
import { icon, type IconName } from '../render/icons';

const icons = { image: 'image', file: 'file', selection: 'insert', folder: 'folder', problems: 'warning' } as const satisfies Record<Attachment['kind'], IconName>;

/** Chips of what is attached, each with its size; each opens what it stands for, and can be taken out where `remove` is given. */
export function attachmentList(attachments: readonly Attachment[], remove: ((attachment: Attachment) => void) | null): TemplateResult | typeof nothing {
  if (attachments.length === 0) return nothing;
  return html`<ul class="attachments" aria-label="Attachments">
    ${attachments.map((attachment) => {
      const { kind, hash, mime } = attachment;
      const title = attachmentTitle(attachment);
      const size = attachment.tokens === undefined ? '' : `${tokens(attachment.tokens)} tokens`;
      return html`<li class="chip attachment">
        <button type="button" class="attachment-open" title="Open ${title}" aria-label="Open ${kind} ${title}${size === '' ? '' : `, ${size}`}" @click=${(event: Event) => event.target?.dispatchEvent(new AskEvent({ method: 'open_attachment', attachment }))}>
          ${kind === 'image' ? html`<tk-picture .hash=${hash} .mime=${mime}></tk-picture>` : icon(icons[kind])}
          <span class="chip-text">${title}</span>
          ${size === '' ? nothing : html`<span class="chip-kind">${size}</span>`}
        </button>
        ${remove ? html`<button type="button" class="icon-button" title="Remove" aria-label="Remove ${title}" @click=${() => remove(attachment)}>${icon('close')}</button>` : nothing}
      </li>`;
    })}
  </ul>`;
}
