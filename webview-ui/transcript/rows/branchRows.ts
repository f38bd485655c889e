import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../../src/protocol/l10n';
import type { Elsewhere, LeftBranch, RowMark } from '../../../src/protocol/messages';
import { icon, type IconName } from '../../render/icons';
import { ask } from '../../lib/events';

/** `‹ 2/3 ›`: the other ways on from here are a step away. */
export function forkSwitch({ at, branches }: NonNullable<RowMark['fork']>, canBranch: boolean): TemplateResult {
  const step = (to: number, label: string, name: IconName) => {
    const entry = branches[to];
    return html`<button type="button" class="icon-button" aria-label=${label} title=${label} ?disabled=${!canBranch || entry === undefined} @click=${entry === undefined ? null : ask({ method: 'switch_branch', entry })}>
      ${icon(name)}
    </button>`;
  };
  return html`<div class="fork-switch" role="group" aria-label=${t('Branch {0} of {1}', at + 1, branches.length)}>
    ${step(at - 1, t('Previous branch'), 'chevronLeft')}<span>${at + 1}/${branches.length}</span>${step(at + 1, t('Next branch'), 'chevronRight')}
  </div>`;
}

/** The branch that is shown ends here, another one does not: where an answer was asked for again and none has come. */
export function beyondSwitch(branches: readonly string[]): TemplateResult | typeof nothing {
  if (branches.length === 0) return nothing;
  return html`<div class="fork-switch">
    <button type="button" class="link-button" @click=${ask({ method: 'switch_branch', entry: branches.at(-1)! })}>${icon('branch')} ${t(branches.length === 1 ? 'Back to what followed here ({0} branch)' : 'Back to what followed here ({0} branches)', wholeNumber(branches.length))}</button>
  </div>`;
}

/** Another device went on elsewhere in this session: where, and the way there. */
export function elsewhereLine(elsewhere: NonNullable<Elsewhere>, canBranch: boolean): TemplateResult {
  const { entry, dismissAs } = elsewhere;
  return html`<div class="left-offer elsewhere" role="group" aria-label=${t('On another device')}>
    ${icon('branch')}
    <span>${elsewhereText(elsewhere)}</span>
    <button type="button" class="link-button" ?disabled=${!canBranch} @click=${ask({ method: 'switch_branch', entry })}>${t('Show')}</button>
    <button type="button" class="icon-button" title=${t('Dismiss')} aria-label=${t('Dismiss')} @click=${ask({ method: 'dismiss_banner', banner: dismissAs })}>${icon('close')}</button>
  </div>`;
}

export function elsewhereText({ device, messages }: NonNullable<Elsewhere>): string {
  return t(messages === 1 ? 'Continued on {0}, {1} message' : 'Continued on {0}, {1} messages', device, wholeNumber(messages));
}

/** The branch that was left has work in it, which can be brought along. One line, gone with the next message. */
export function leftOffer({ messages, summarizing }: NonNullable<LeftBranch>): TemplateResult {
  const choice = (how: 'summarize' | 'instructions' | 'none', label: string) =>
    html`<button type="button" class="link-button" @click=${ask({ method: 'summarize_left', how })}>${label}</button>`;
  return html`<div class="left-offer" role="group" aria-label=${t('The branch you left')}>
    ${icon('branch')}
    ${
      summarizing
        ? html`<span role="status">${t('Summarizing the branch you left…')}</span>${html`<button type="button" class="link-button" @click=${ask({ method: 'stop' })}>${t('Cancel')}</button>`}`
        : html`<span>${t(messages === 1 ? 'Bring a summary of the {0} message you left?' : 'Bring a summary of the {0} messages you left?', wholeNumber(messages))}</span>${choice('summarize', t('Summarize'))}${choice('instructions', t('With instructions…'))}<button type="button" class="icon-button" title=${t('Dismiss')} aria-label=${t('No summary')} @click=${ask({ method: 'summarize_left', how: 'none' })}>${icon('close')}</button>`
    }
  </div>`;
}

export function labelChip(label: string): TemplateResult {
  return html`<div class="label-chip">${icon('label')}<span class="sr-only">${t('Label:')} </span><span>${label}</span></div>`;
}
