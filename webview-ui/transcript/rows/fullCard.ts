import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../../src/protocol/l10n';
import type { FullAnswer, FullContext } from '../../../src/protocol/messages';
import { shortTokens } from '../../../src/protocol/figures';
import { icon } from '../../render/icons';
import { ask } from './approvalCard';

/** The policy leaves it to the user what happens now that the context is full. Never takes the focus: the announcer says that it is there. */
export function fullCard(full: NonNullable<FullContext>): TemplateResult {
  const answer = (given: FullAnswer) => ask({ method: 'answer_full', answer: given });
  return html`
    <div class="approval full-card" role="group" aria-label=${fullText(full)}>
      <div class="approval-title">${icon('warning')} <span>${fullText(full)}</span></div>
      <p>${t('Your message waits. Compacting turns the older part into a summary; nothing is deleted, and it can be undone.')}</p>
      ${full.fits ? nothing : html`<p>${t('As it is, it is too long for the model: going on will not send your message.')}</p>`}
      <div class="actions">
        <vscode-button @click=${answer('summarize')}>${t('Compact now')}</vscode-button>
        <vscode-button appearance="secondary" @click=${answer('instructions')}>${t('Compact with instructions…')}</vscode-button>
        <vscode-button appearance="secondary" @click=${answer('truncate')}>${t('Leave out the older part')}</vscode-button>
        <vscode-button appearance="secondary" @click=${answer('continue')}>${t('Go on as it is')}</vscode-button>
      </div>
    </div>
  `;
}

export function fullText({ used, effective }: NonNullable<FullContext>): string {
  return t('The context is {0} % full: {1} of {2} tokens', Math.round((used / effective) * 100), shortTokens(used), shortTokens(effective));
}
