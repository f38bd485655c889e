import { html, nothing, type TemplateResult } from 'lit';
import { planIn } from '../../src/protocol/composer';
import { t } from '../../src/protocol/l10n';
import type { Mode } from '../../src/protocol/messages';
import type { ViewState } from '../chat/state';
import { ask } from '../lib/events';
import { icon } from '../render/icons';

/** Says which mode the session is in, and switches it. */
export function modeButton(mode: Mode, disabled: boolean): TemplateResult {
  const isPlan = mode === 'plan';
  const title = isPlan
    ? t('Plan mode: the model changes nothing and ends with a plan. Switch to Chat')
    : t('Switch to Plan mode: the model changes nothing and ends with a plan');
  return html`<button
    type="button"
    class="mode-button ${mode}"
    title=${title}
    aria-label=${isPlan ? t('Mode: Plan. Switch to Chat') : t('Mode: Chat. Switch to Plan')}
    ?disabled=${disabled}
    @click=${ask({ method: 'set_mode', mode: isPlan ? 'chat' : 'plan' })}
  >
    ${isPlan ? t('Plan') : t('Chat')}
  </button>`;
}

/** The answer in Plan mode that ends in a plan and that nothing has followed; null while there is none. */
export function readyPlan({ mode, turn, rows }: Pick<ViewState, 'mode' | 'turn' | 'rows'>): string | null {
  if (mode !== 'plan' || turn !== null) return null;
  const last = rows.findLast(({ kind }) => kind === 'assistant' || kind === 'user' || kind === 'tool' || kind === 'error');
  return last?.kind === 'assistant' && planIn(last.markdown) !== null ? last.id : null;
}

export const planReadyText = (): string => t('The plan is ready');

/** Never takes the focus: the announcer says that it is there. */
export function planCard(entry: string | null): TemplateResult | typeof nothing {
  if (entry === null) return nothing;
  return html`<div class="approval plan-card" role="group" aria-label=${planReadyText()}>
    <div class="approval-title">${icon('milestone')} <span>${planReadyText()}</span></div>
    <p>${t('Starting it switches to Chat, where the model can change files.')}</p>
    <div class="actions">
      <vscode-button @click=${ask({ method: 'start_plan', entry })}>${t('Start Plan')}</vscode-button>
      <vscode-button appearance="secondary" @click=${ask({ method: 'edit_plan', entry })}>${t('Edit Plan')}</vscode-button>
    </div>
  </div>`;
}
