import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../../src/protocol/l10n';
import type { TranscriptRow, ViewRequest } from '../../../src/protocol/messages';
import { visibleText } from '../../../src/protocol/visibleText';
import { AskEvent } from '../../lib/events';
import { icon } from '../../render/icons';

type Tool = TranscriptRow & { kind: 'tool' };
type Answer = (ViewRequest & { method: 'answer_tool' })['answer'];

/** What a call would do, and the user's answer to it. Never takes the focus: the announcer says that it is there. */
export function approvalCard({ id, approval, hasDiff }: Tool): TemplateResult | typeof nothing {
  if (!approval) return nothing;
  const answer = (given: Answer) => ask({ method: 'answer_tool', id, answer: given });
  const title = visibleText(approval.title);
  const detail = approval.detail === null ? null : visibleText(approval.detail, 'lines');
  const isDrawn = title !== approval.title || detail !== approval.detail;
  return html`
    <div class="approval" role="group" aria-label=${t('Permission needed: {0}', title)}>
      <div class="approval-title">${icon('lock')} <span>${title}</span></div>
      ${detail === null ? nothing : html`<pre class="approval-detail" tabindex="0" role="group" aria-label=${t('Details')}>${detail}</pre>`}
      ${isDrawn ? html`<p class="approval-unseen">${icon('warning')} ${t('Characters that cannot be seen are shown as ⟦U+…⟧.')}</p>` : nothing}
      ${approval.note === undefined ? nothing : html`<p>${visibleText(approval.note)}</p>`}
      <div class="actions">
        <vscode-button @click=${answer('allow')}>${t('Allow')}</vscode-button>
        ${approval.everyTime ? nothing : html`<vscode-button appearance="secondary" @click=${answer('session')}>${t('Allow for this session')}</vscode-button>`}
        <vscode-button appearance="secondary" @click=${answer('deny')}>${t('Deny')}</vscode-button>
        ${hasDiff ? html`<vscode-button appearance="secondary" @click=${ask({ method: 'show_diff', id })}>${t('Show diff')}</vscode-button>` : nothing}
      </div>
    </div>
  `;
}

export function ask(request: ViewRequest) {
  return (event: Event): void => void event.target?.dispatchEvent(new AskEvent(request));
}
