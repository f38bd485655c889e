import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../../src/protocol/l10n';
import type { TranscriptRow, ViewRequest, FullAnswer, FullContext } from '../../../src/protocol/messages';
import { ask } from '../../lib/events';
import { icon } from '../../render/icons';
import { changeLines, lineCounts } from './changeLines';
import { shortTokens, visibleText } from '../../../src/protocol/figures';

type Tool = TranscriptRow & { kind: 'tool' };
type Answer = (ViewRequest & { method: 'answer_tool' })['answer'];

/** What a call would do, and the user's answer to it. Never takes the focus: the announcer says that it is there. */
export function approvalCard({ id, approval, hasDiff }: Tool): TemplateResult | typeof nothing {
  if (!approval) return nothing;
  const answer = (given: Answer) => ask({ method: 'answer_tool', id, title: approval.title, answer: given });
  const title = visibleText(approval.title);
  const detail = approval.detail === null ? null : visibleText(approval.detail, 'lines');
  const isDrawn = title !== approval.title || detail !== approval.detail;
  return html`
    <div class="approval" role="group" aria-label=${t('Permission needed: {0}', title)}>
      <div class="approval-title">
        ${icon('lock')} <span>${title}</span>${approval.change ? lineCounts(approval.change) : nothing}
      </div>
      ${detail === null ? nothing : html`<pre class="approval-detail" tabindex="0" role="group" aria-label=${t('Details')}>${detail}</pre>`}
      ${approval.change ? changeLines(approval.change) : nothing}
      ${isDrawn ? html`<p class="approval-unseen">${icon('warning')} ${t('Characters that cannot be seen are shown as ⟦U+…⟧.')}</p>` : nothing}
      ${approval.note === undefined ? nothing : html`<p>${visibleText(approval.note)}</p>`}
      <div class="actions">
        <vscode-button @click=${answer('allow')}>${t('Allow')}</vscode-button>
        ${approval.everyTime ? nothing : html`<vscode-button appearance="secondary" @click=${answer('session')}>${t('Allow for this session')}</vscode-button>`}
        ${approval.lasting ? html`<vscode-button appearance="secondary" @click=${answer('always')}>${t('Always allow…')}</vscode-button>` : nothing}
        <vscode-button appearance="secondary" @click=${answer('deny')}>${t('Deny')}</vscode-button>
      </div>
      <div class="links">
        <button type="button" class="link-button" @click=${answer('reason')}>${t('Deny with a reason…')}</button>
        ${hasDiff ? html`<button type="button" class="link-button" @click=${ask({ method: 'show_diff', id })}>${t('Show diff')}</button>` : nothing}
      </div>
    </div>
  `;
}

/**
 * The policy leaves it to the user what happens now that the context is full. Never takes the focus: the announcer says that it is there.
 */
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
  return t('The context is {0}% full: {1} of {2} tokens', Math.round((used / effective) * 100), shortTokens(used), shortTokens(effective));
}
