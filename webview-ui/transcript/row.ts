import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { RowMark } from '../../src/protocol/messages';
import type { Item } from '../chat/state';
import { ToggleEvent } from '../lib/events';
import { beyondSwitch, forkSwitch, labelChip } from './rows/branchRows';
import { compactionRow } from './rows/compactionRow';
import { assistantRow, thinkingRow, userRow } from './rows/messageRows';
import type { RowContext } from './rows/rowParts';
import { branchSummaryRow, checkpointRow, errorRow, infoRow, nudgeRow, skillRow, undoRow } from './rows/systemRows';
import { changesRow } from './rows/changesRow';
import { toolRow } from './rows/toolRow';
import { unsentEdits } from '../lib/unsent';
import { ViewElement } from '../lib/viewElement';

/** One row of the transcript, whatever its kind; renders again only when what it shows has changed. */
export class RowView extends ViewElement {
  static override properties = {
    item: { attribute: false },
    expanded: { attribute: false },
    last: { attribute: false },
    undoable: { attribute: false },
    endsTurn: { attribute: false },
    question: { attribute: false },
    speaker: { attribute: false },
    mark: { attribute: false },
    canBranch: { attribute: false },
    editing: { state: true },
  };
  item!: Item;
  expanded = false;
  last = false;
  undoable = false;
  endsTurn = false;
  question: string | null = null;
  speaker: string | null = null;
  mark: RowMark | null = null;
  canBranch = false;
  private editing = false;

  private readonly toggle = (): void => void this.dispatchEvent(new ToggleEvent(this.item.id));

  private readonly edit = (): void => void (this.editing = true);
  private readonly endEdit = (): void => {
    this.editing = false;
    // One that came back with its row is in none of its properties.
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<HTMLElement>('[data-action=edit]')?.focus());
  };

  protected override updated(changed: PropertyValues<this>): void {
    // The button that was pressed went with what it had shown.
    if (changed.get('expanded') === true && document.hasFocus() && document.activeElement === document.body)
      this.querySelector<HTMLElement>('[aria-expanded]')?.focus();
  }

  protected override render(): TemplateResult {
    const { item, mark, expanded, last, undoable, endsTurn, question, speaker, toggle, canBranch, edit } = this;
    const editing = this.editing || unsentEdits.has(item.id);
    return html`
      ${mark?.fork ? forkSwitch(mark.fork, canBranch) : nothing}
      ${mark?.label && item.kind !== 'user' && item.kind !== 'assistant' ? labelChip(mark.label) : nothing}
      ${content(item, { expanded, last, undoable, endsTurn, question, speaker, toggle, canBranch, edit, editing, label: mark?.label ?? null })}
      ${editing && item.kind === 'user' ? html`<tk-message-editor .entry=${item.id} .text=${item.text} .canSend=${canBranch} .done=${this.endEdit}></tk-message-editor>` : nothing}
      ${mark?.changes ? changesRow(item.id, mark.changes) : nothing}
      ${mark && last && canBranch ? beyondSwitch(mark.beyond) : nothing}
    `;
  }
}

function content(item: Item, context: RowContext): TemplateResult {
  switch (item.kind) {
    case 'live':
      return item.block === 'assistant'
        ? assistantRow({ markdown: item.text, streaming: true, interrupted: null, at: null, stored: null }, context)
        : thinkingRow({ text: item.text, streaming: true, durationMs: null }, context);
    case 'assistant':
      return assistantRow({ ...item, streaming: false, stored: item }, context);
    case 'thinking':
      return thinkingRow({ ...item, streaming: false }, context);
    case 'user':
      return userRow(item, context);
    case 'tool':
      return toolRow(item, context);
    case 'compaction':
      return compactionRow(item, context);
    case 'nudge':
      return nudgeRow(item, context);
    case 'checkpoint':
      return checkpointRow(item, context);
    case 'branch_summary':
      return branchSummaryRow(item, context);
    case 'skill':
      return skillRow(item, context);
    case 'undo':
      return undoRow(item);
    case 'error':
      return errorRow(item, context);
    case 'info':
      return infoRow(item);
  }
}
