import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../src/protocol/l10n';
import type { IconName } from '../render/icons';
import { icon } from '../render/icons';

export interface Choice {
  readonly label: string;
  readonly detail: string;
  /** Null: all of them are of one kind. */
  readonly icon: IconName | null;
  /** `run`: chosen with Enter; a Tab only completes. */
  readonly choose: (run: boolean) => void;
}

export const completionListId = 'completions';
export const choiceId = (index: number): string => `completion-${index}`;

/** What `@` and `/` offer. The focus stays in the text: the chosen one is named to a screen reader by `aria-activedescendant`. */
export function completionMenu(choices: readonly Choice[], active: number): TemplateResult | typeof nothing {
  if (choices.length === 0) return nothing;
  return html`<ul id=${completionListId} class="completions" role="listbox" aria-label=${t('Suggestions')}>
    ${choices.map(
      (choice, index) => html`<li
        id=${choiceId(index)}
        role="option"
        aria-selected=${index === active}
        title=${`${choice.label} ${choice.detail}`.trim()}
        class=${index === active ? 'active' : ''}
        @mousedown=${(event: Event) => event.preventDefault()}
        @click=${() => choice.choose(true)}
      >
        ${choice.icon === null ? nothing : icon(choice.icon)}<span class="completion-label">${choice.label}</span><span class="completion-detail">${choice.detail}</span>
      </li>`,
    )}
  </ul>`;
}
