import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { Banner } from '../../src/protocol/messages';
import { AskEvent } from '../events';
import { icon, type IconName } from '../render/icons';
import { ViewElement } from './viewElement';

const icons: Record<NonNullable<Banner>['kind'], IconName> = {
  readonly: 'lock',
  recovered: 'warning',
  reduced_durability: 'warning',
  store_failed: 'error',
  untrusted: 'info',
  policy: 'warning',
};

/** A standing condition of the whole view. */
export class BannerView extends ViewElement {
  static override properties = { banner: { attribute: false } };
  banner: Banner = null;

  protected override render(): TemplateResult | typeof nothing {
    const banner = this.banner;
    if (!banner) return nothing;
    return html`
      <div class="banner ${banner.kind}" role="status">
        ${icon(icons[banner.kind])}
        <span>${banner.text}</span>
        ${banner.kind === 'store_failed'
          ? html`<button type="button" class="link-button" @click=${() => this.dispatchEvent(new AskEvent({ method: 'show_log' }))}>
              ${t('Show log')}
            </button>`
          : nothing}
        ${banner.kind === 'policy'
          ? html`<button type="button" class="link-button" @click=${() => this.dispatchEvent(new AskEvent({ method: 'select_policy' }))}>${t('Select Policy…')}</button>`
          : nothing}
      </div>
    `;
  }
}
