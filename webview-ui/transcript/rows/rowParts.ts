import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../../src/protocol/l10n';
import { ask } from '../../lib/events';
import { showCopied } from '../../render/copied';
import { icon, type IconName } from '../../render/icons';
import { moreMenu, type MenuItem } from './moreMenu';

interface RowAction {
  /** Tells it from the others of its row. */
  readonly name: string;
  readonly icon: IconName;
  readonly label: string;
  readonly title: string;
  /** Stands beside the icon, where the action is what comes next. */
  readonly text?: string;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly run: (event: Event) => void;
}

/**
 * What can be done with a message: one stop of the Tab key, the arrow keys go from one to the next. In sight on hover and focus; `isShown`:
 * always. What is seldom wanted is in a menu at the end.
 */
export function rowActions(
  what: string,
  actions: readonly RowAction[],
  isShown = false,
  more: { readonly label: string; readonly items: readonly MenuItem[] } | null = null,
): TemplateResult {
  const first = actions.find(({ disabled }) => !disabled);
  return html`<div class="row-actions ${isShown ? 'shown' : ''}" role="toolbar" aria-label=${t('Actions for {0}', what)} @keydown=${move}>
    ${actions.map(
      (action) => html`<button
        type="button"
        class="icon-button ${action.pressed ? 'pressed' : ''} ${action.text === undefined ? '' : 'worded'}"
        data-action=${action.name}
        tabindex=${action === first ? 0 : -1}
        aria-label=${action.label}
        title=${action.title}
        ?disabled=${action.disabled ?? false}
        @click=${action.run}
      >
        ${icon(action.icon)}${action.text === undefined ? nothing : html`<span>${action.text}</span>`}
      </button>`,
    )}
    ${more ? moreMenu(more.label, more.items, first ? -1 : 0) : nothing}
  </div>`;
}

/** Returns what can be done with a message, whoever wrote it. */
export function commonActions(
  message: {
    readonly id: string;
    readonly text: string;
    readonly label: string | null;
    readonly pinned: boolean;
    readonly folded: boolean;
    readonly excluded: boolean;
    readonly canChange: boolean;
  },
  what: string,
): RowAction[] {
  const { id, text, label, pinned, folded, excluded, canChange } = message;
  return [
    { name: 'copy', icon: 'copy', label: t('Copy {0}', what), title: t('Copy'), run: copy(text) },
    pinned
      ? {
          name: 'pin',
          icon: 'pin',
          label: t('Pinned: unpin {0}', what),
          title: t('Unpin {0}', what),
          pressed: true,
          run: ask({ method: 'unpin', id }),
        }
      : {
          name: 'pin',
          icon: 'pin',
          label: t('Pin {0}', what),
          title: t('Pin {0}: every compaction keeps it', what),
          run: ask({ method: 'pin', id }),
        },
    excluded
      ? {
          name: 'exclude',
          icon: 'eye',
          label: t('Include {0} again', what),
          title: t('Include in the context again'),
          pressed: true,
          disabled: folded || !canChange,
          run: ask({ method: 'include', id }),
        }
      : {
          name: 'exclude',
          icon: 'eyeClosed',
          label: t('Exclude {0}', what),
          title: t('Exclude: the model does not see it any more'),
          disabled: folded || pinned || !canChange,
          run: ask({ method: 'exclude', id }),
        },
    {
      name: 'label',
      icon: 'label',
      label: label === null ? t('Label {0}', what) : t('Change the label of {0}', what),
      title: t('Label…'),
      run: ask({ method: 'label', entry: id, label: label ?? '' }),
    },
    {
      name: 'fork',
      icon: 'branch',
      label: t('Fork the session from {0}', what),
      title: t('Fork into a session of its own'),
      run: ask({ method: 'fork', entry: id }),
    },
  ];
}

function copy(text: string): (event: Event) => void {
  const asked = ask({ method: 'copy', text });
  return (event) => {
    asked(event);
    showCopied(event.currentTarget as HTMLElement);
  };
}

export function pinnedRemark(pinned: boolean): TemplateResult | typeof nothing {
  return pinned ? html`<p class="remark">${icon('pin')} ${t('Pinned')}</p>` : nothing;
}

/** The turn was stopped, or broke off, before it came to an answer. */
export function unansweredRemark(action: string): TemplateResult {
  return html`<p class="remark">${t('No answer yet')} <button type="button" class="link-button" @click=${ask({ method: 'retry' })}>${action}</button></p>`;
}

/** What is folded is out of the context anyway. */
export function excludedRemark(
  { id, excluded, folded }: { readonly id: string; readonly excluded: boolean; readonly folded: boolean },
  canChange: boolean,
): TemplateResult | typeof nothing {
  if (!excluded || folded) return nothing;
  return html`<p class="remark excluded-remark">
    ${icon('eyeClosed')} ${t('Not in context')}
    <button type="button" class="link-button" ?disabled=${!canChange} @click=${ask({ method: 'include', id })}>${t('Include again')}</button>
  </p>`;
}

function move(event: KeyboardEvent): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const bar = event.currentTarget as HTMLElement;
  if (step === undefined) return;
  const buttons = [...bar.querySelectorAll<HTMLButtonElement>('button:not([disabled], [role=menuitem])')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const next = buttons[(at + step + buttons.length) % buttons.length];
  if (at < 0 || !next) return;
  event.preventDefault();
  for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
  next.focus();
}

/** What a row shows besides itself. */
export interface RowContext {
  readonly expanded: boolean;
  /** The last row that says something, while nothing runs: only there does trying again make sense. */
  readonly last: boolean;
  /** The newest live compaction: only that one can be undone. */
  readonly undoable: boolean;
  /** The last row of a finished turn: what can be done with its answer is in sight. */
  readonly endsTurn: boolean;
  /** The message that the row's turn answers; null where it is not known. */
  readonly question: string | null;
  /** Name to show above the row when the speaker changes with it. */
  readonly speaker: string | null;
  readonly toggle: () => void;
  /** Nothing runs: the conversation can go another way from here. */
  readonly canBranch: boolean;
  readonly label: string | null;
  /** The message is being written anew. */
  readonly editing: boolean;
  readonly edit: () => void;
}
