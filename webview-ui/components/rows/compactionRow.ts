import { html, nothing, type TemplateResult } from 'lit';
import type { TranscriptRow } from '../../../src/protocol/messages';
import { AskEvent } from '../../events';
import { duration, plural, tokens } from '../../format';
import { icon } from '../../render/icons';
import type { RowContext } from './rowContext';

type Compaction = TranscriptRow & { kind: 'compaction' };

/** What took the place of the folded messages, and the way back. */
export function compactionRow(row: Compaction, { expanded, undoable, toggle }: RowContext): TemplateResult {
  return html`
    <div class="compaction-card ${row.state}" role="group" aria-label="Compaction">
      <div class="compaction-head">
        ${icon('fold')}
        <div>
          <span class="compaction-title">Compacted ${plural(row.messages, 'message')}</span>
          ${row.state === 'live' ? nothing : html`<span class="state">${row.state === 'undone' ? 'undone' : 'superseded'}</span>`}
          <div class="compaction-facts">${facts(row).join(' · ')}</div>
        </div>
      </div>
      ${row.note ? html`<p class="compaction-note">${row.note}</p>` : nothing}
      <div class="actions">
        ${row.summary
          ? html`<vscode-button appearance="secondary" aria-expanded=${expanded} @click=${toggle}>
              ${expanded ? 'Hide summary' : 'Show summary'}
            </vscode-button>`
          : nothing}
        ${row.state === 'live' && undoable ? html`<vscode-button appearance="secondary" @click=${undo}>Undo</vscode-button>` : nothing}
      </div>
      ${expanded && row.summary
        ? html`<tk-markdown class="summary" .source=${{ text: row.summary, streaming: false }}></tk-markdown>`
        : nothing}
    </div>
  `;
}

export function compactionSentence(row: Compaction): string {
  return `Compacted ${plural(row.messages, 'message')}, ${tokens(row.tokensBefore)} to ${tokens(row.tokensAfter)} tokens`;
}

function facts(row: Compaction): string[] {
  return [
    `${tokens(row.tokensBefore)} → ${tokens(row.tokensAfter)} tokens`,
    method(row),
    ...(reason[row.trigger] ? [reason[row.trigger]] : []),
    ...(row.durationMs >= 1000 ? [duration(row.durationMs)] : []),
  ];
}

const reason: Readonly<Record<Compaction['trigger'], string>> = { automatic: '', manual: 'on request', overflow: 'the model refused the length', edit: 'summary edited', retry: 'summary improved' };

function method({ rung, model }: Compaction): string {
  const by = model === null ? '' : ` by ${model}`;
  switch (rung) {
    case 'mask':
      return 'old tool results left out';
    case 'checkpoint':
      return `summary${by} from a checkpoint`;
    case 'prepared':
      return `summary${by}, prepared in background`;
    case 'model':
      return `summary${by}`;
    case 'extractive':
      return 'extractive summary';
    case 'truncate':
      return 'oldest messages left out';
  }
}

function undo(event: Event): void {
  event.target?.dispatchEvent(new AskEvent({ method: 'undo_compaction' }));
}
