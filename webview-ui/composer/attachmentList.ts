import { html, nothing, type TemplateResult, type PropertyValues } from 'lit';
import { attachmentTitle, type Attachment } from '../../src/protocol/composer';
import { listed, t } from '../../src/protocol/l10n';
import { ask, PictureEvent } from '../lib/events';
import { shortTokens } from '../../src/protocol/figures';
import { icon, type IconName } from '../render/icons';
import { ViewElement } from '../lib/viewElement';

const icons = {
  image: 'image',
  file: 'file',
  selection: 'insert',
  folder: 'folder',
  problems: 'warning',
  terminal: 'chevronRight',
  changes: 'branch',
  session: 'history',
} as const satisfies Record<Attachment['kind'], IconName>;

const kindNames: Readonly<Record<Attachment['kind'], () => string>> = {
  image: () => t('image'),
  file: () => t('file'),
  selection: () => t('selection'),
  folder: () => t('folder'),
  problems: () => t('problems'),
  terminal: () => t('terminal output'),
  changes: () => t('changes'),
  session: () => t('past chat'),
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
        <button type="button" class="attachment-open" title=${listed([t('Open {0}', title), ...(size === '' ? [] : [size])])} aria-label=${listed([t('Open {0} {1}', kindNames[kind](), title), ...(size === '' ? [] : [size])])} @click=${ask({ method: 'open_attachment', attachment })}>
          ${kind === 'image' ? html`<tk-picture .hash=${hash} .mime=${mime}></tk-picture>` : icon(icons[kind])}
          <span class="chip-text">${title}</span>
          ${size === '' ? nothing : html`<span class="chip-kind">${size}</span>`}
        </button>
        ${remove ? html`<button type="button" class="icon-button" title=${t('Remove')} aria-label=${t('Remove {0}', title)} @click=${() => remove(attachment)}>${icon('close')}</button>` : nothing}
      </li>`;
    })}
  </ul>`;
}

/** A small view of an attached image, fetched when it is shown; never from outside. */
export class PictureView extends ViewElement {
  static override properties = { hash: { attribute: false }, mime: { attribute: false }, address: { state: true } };
  hash = '';
  mime = '';
  private address: string | null = null;

  protected override updated(changed: PropertyValues): void {
    if (!changed.has('hash') || this.hash === '') return;
    this.address = null;
    const { hash, mime } = this;
    this.dispatchEvent(new PictureEvent({ hash, mime }, (address) => hash === this.hash && (this.address = address)));
  }

  protected override render(): TemplateResult {
    // What it shows is named beside it.
    return this.address === null ? icon('image') : html`<img src=${this.address} alt="" />`;
  }
}
