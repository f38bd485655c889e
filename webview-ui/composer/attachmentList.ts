import { html, nothing, type TemplateResult } from 'lit';
import { attachmentTitle, type Attachment } from '../../src/protocol/composer';
import { listed, t } from '../../src/protocol/l10n';
import { AskEvent } from '../lib/events';
import { shortTokens } from '../../src/protocol/figures';
import { icon, type IconName } from '../render/icons';

const icons = { image: 'image', file: 'file', selection: 'insert', folder: 'folder', problems: 'warning' } as const satisfies Record<
  Attachment['kind'],
  IconName
>;

const kindNames: Readonly<Record<Attachment['kind'], () => string>> = {
  image: () => t('image'),
  file: () => t('file'),
  selection: () => t('selection'),
  folder: () => t('folder'),
  problems: () => t('problems'),
};

/** Chips of what is attached, each with its size; each opens what it stands for, and can be taken out where `remove` is given. */
export function attachmentList(
  attachments: readonly Attachment[],
  remove: ((attachment: Attachment) => void) | null,
): TemplateResult | typeof nothing {
  if (attachments.length === 0) return nothing;
  return html`<ul class="attachments" aria-label=${t('Attachments')}>
    ${attachments.map((attachment) => {
      const { kind, hash, mime } = attachment;
      const title = attachmentTitle(attachment);
      const size = attachment.tokens === undefined ? '' : t('{0} tokens', shortTokens(attachment.tokens));
      return html`<li class="chip attachment">
        <button type="button" class="attachment-open" title=${t('Open {0}', title)} aria-label=${listed([t('Open {0} {1}', kindNames[kind](), title), ...(size === '' ? [] : [size])])} @click=${(event: Event) => event.target?.dispatchEvent(new AskEvent({ method: 'open_attachment', attachment }))}>
          ${kind === 'image' ? html`<tk-picture .hash=${hash} .mime=${mime}></tk-picture>` : icon(icons[kind])}
          <span class="chip-text">${title}</span>
          ${size === '' ? nothing : html`<span class="chip-kind">${size}</span>`}
        </button>
        ${remove ? html`<button type="button" class="icon-button" title=${t('Remove')} aria-label=${t('Remove {0}', title)} @click=${() => remove(attachment)}>${icon('close')}</button>` : nothing}
      </li>`;
    })}
  </ul>`;
}
