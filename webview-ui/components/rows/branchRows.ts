import { html, type TemplateResult } from 'lit';
import type { LeftBranch, RowMark } from '../../../src/protocol/messages';
import { plural } from '../../format';
import { icon, type IconName } from '../../render/icons';
import { ask } from './rowActions';

/** `‹ 2/3 ›`: the other ways on from here are a step away. */
export function forkSwitch({ at, branches }: NonNullable<RowMark['fork']>, canBranch: boolean): TemplateResult {
  const step = (to: number, label: string, name: IconName) => {
    const entry = branches[to];
    return html`<button type="button" class="icon-button" aria-label=${label} title=${label} ?disabled=${!canBranch || entry === undefined} @click=${entry === undefined ? null : ask({ method: 'switch_branch', entry })}>
      ${icon(name)}
    </button>`;
  };
  return html`<div class="fork-switch" role="group" aria-label="Branch ${at + 1} of ${branches.length}">
    ${step(at - 1, 'Previous branch', 'chevronLeft')}<span>${at + 1}/${branches.length}</span>${step(at + 1, 'Next branch', 'chevronRight')}
  </div>`;
}

/** The branch that is shown ends here, another one does not: where an answer was asked for again and none has come. */
export function beyondSwitch(branches: readonly string[]): TemplateResult {
  return html`<div class="fork-switch">
    <button type="button" class="link-button" @click=${ask({ method: 'switch_branch', entry: branches.at(-1)! })}>${icon('branch')} Back to what followed here (${plural(branches.length, 'branch', 'branches')})</button>
  </div>`;
}

/** The branch that was left has work in it, which can be brought along. One line, gone with the next message. */
export function leftOffer({ messages, summarizing }: NonNullable<LeftBranch>): TemplateResult {
  const choice = (how: 'summarize' | 'instructions' | 'none', label: string) => html`<button type="button" class="link-button" @click=${ask({ method: 'summarize_left', how })}>${label}</button>`;
  return html`<div class="left-offer" role="group" aria-label="The branch you left">
    ${icon('branch')}
    ${summarizing
      ? html`<span role="status">Summarising the branch you left…</span>${html`<button type="button" class="link-button" @click=${ask({ method: 'stop' })}>Cancel</button>`}`
      : html`<span>You left ${plural(messages, 'message')} on another branch.</span>${choice('summarize', 'Summarise')}${choice('instructions', 'With instructions…')}${choice('none', 'No summary')}`}
  </div>`;
}

export function labelChip(label: string): TemplateResult {
  return html`<div class="label-chip">${icon('label')}<span class="sr-only">Label: </span><span>${label}</span></div>`;
}
