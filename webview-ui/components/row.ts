import { html, type TemplateResult } from 'lit';
import type { Item } from '../state';
import { ToggleEvent } from '../events';
import { compactionRow } from './rows/compactionRow';
import { assistantRow, thinkingRow, userRow } from './rows/messageRows';
import type { RowContext } from './rows/rowContext';
import { checkpointRow, errorRow, infoRow, nudgeRow, undoRow } from './rows/systemRows';
import { toolRow } from './rows/toolRow';
import { ViewElement } from './viewElement';

/** One row of the transcript, whatever its kind; renders again only when what it shows has changed. */
export class RowView extends ViewElement {
  static override properties = {
    item: { attribute: false },
    expanded: { attribute: false },
    last: { attribute: false },
    undoable: { attribute: false },
    speaker: { attribute: false },
  };
  item!: Item;
  expanded = false;
  last = false;
  undoable = false;
  speaker: string | null = null;

  private readonly toggle = (): void => void this.dispatchEvent(new ToggleEvent(this.item.id));

  protected override render(): TemplateResult {
    const { expanded, last, undoable, speaker, toggle } = this;
    return html`${content(this.item, { expanded, last, undoable, speaker, toggle })}`;
  }
}

function content(item: Item, context: RowContext): TemplateResult {
  switch (item.kind) {
    case 'live':
      return item.block === 'assistant'
        ? assistantRow({ markdown: item.text, streaming: true, interrupted: null, at: null, pin: null }, context)
        : thinkingRow({ text: item.text, streaming: true, durationMs: null }, context);
    case 'assistant':
      return assistantRow({ ...item, streaming: false, pin: item }, context);
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
    case 'undo':
      return undoRow(item);
    case 'error':
      return errorRow(item, context);
    case 'info':
      return infoRow(item);
  }
}
