import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { Banner, ViewRequest } from '../../src/protocol/messages';
import { ask } from '../lib/events';
import { icon, type IconName } from '../render/icons';
import { ViewElement } from '../lib/viewElement';

type Kind = NonNullable<Banner>['kind'];

const icons: Record<Kind, IconName> = {
  readonly: 'lock',
  recovered: 'warning',
  damaged: 'warning',
  reduced_durability: 'warning',
  store_failed: 'error',
  untrusted: 'info',
  policy: 'warning',
};

const actions: Partial<Record<Kind, { readonly label: () => string; readonly request: ViewRequest }>> = {
  store_failed: { label: () => t('Show log'), request: { method: 'show_log' } },
  damaged: { label: () => t('Verify and repair'), request: { method: 'verify_history' } },
  untrusted: { label: () => t('Manage workspace trust'), request: { method: 'manage_trust' } },
  policy: { label: () => t('Select Policy…'), request: { method: 'select_policy' } },
};

/** A standing condition of the whole view. */
export class BannerView extends ViewElement {
  static override properties = { banner: { attribute: false } };
  banner: Banner = null;

  protected override render(): TemplateResult | typeof nothing {
    if (!this.banner) return nothing;
    const { kind, text, details, dismissAs } = this.banner;
    const action = actions[kind];
    return html`
      <div class="banner ${kind}" role="status">
        ${icon(icons[kind])}
        <div class="banner-text">
          <span>${text}</span>
          ${details === undefined ? nothing : html`<details><summary>${t('Details')}</summary>${details}</details>`}
        </div>
        ${action ? html`<button type="button" class="link-button" @click=${ask(action.request)}>${action.label()}</button>` : nothing}
        ${
          dismissAs === undefined
            ? nothing
            : html`<button type="button" class="icon-button" title=${t('Dismiss')} aria-label=${t('Dismiss')} @click=${ask({ method: 'dismiss_banner', banner: dismissAs })}>
              ${icon('close')}
            </button>`
        }
      </div>
    `;
  }
}
