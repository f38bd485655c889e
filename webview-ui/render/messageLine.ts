import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import { icon } from './icons';

/** A line above the page: what went wrong, or why there was nothing to do. `dismiss` takes it away. */
export function messageLine(kind: 'problem' | 'remark', text: string, dismiss: () => void): TemplateResult {
  return html`<div class="problem ${kind === 'problem' ? '' : 'calm'}" role=${kind === 'problem' ? 'alert' : nothing}>
    ${icon(kind === 'problem' ? 'error' : 'info')}<span>${text}</span>
    <button type="button" class="icon-button" title=${t('Dismiss')} aria-label=${t('Dismiss')} @click=${dismiss}>${icon('close')}</button>
  </div>`;
}
