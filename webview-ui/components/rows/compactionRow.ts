import { html, nothing, type TemplateResult } from 'lit';
import type { TranscriptRow, ViewRequest } from '../../../src/protocol/messages';
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
          ${row.state === 'live' ? nothing : html`<span class="state">${row.state}</span>`}
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
        ${row.state === 'live' && undoable ? changes(row) : nothing}
        ${row.coversFrom !== null && row.messages > 0 ? button('Show originals', { method: 'show_entry', id: row.coversFrom }) : nothing}
      </div>
      ${expanded && row.continuity ? html`<p class="compaction-note">${continuityText(row.continuity)}</p>` : nothing}
      ${expanded && row.summary
        ? html`<tk-markdown class="summary" .source=${{ text: row.summary, streaming: false }}></tk-markdown>`
        : nothing}
    </div>
  `;
}

/** Only the newest one can be changed. A record without a summary has nothing to rewrite. */
function changes(row: Compaction): TemplateResult {
  return html`
    ${row.summary ? [button('Edit…', { method: 'edit_summary' }), button('Re-summarise…', { method: 'resummarize' })] : nothing}
    ${button('Undo', { method: 'undo_compaction' })}
  `;
}

function button(label: string, request: ViewRequest): TemplateResult {
  return html`<vscode-button appearance="secondary" @click=${(event: Event) => void event.target?.dispatchEvent(new AskEvent(request))}>${label}</vscode-button>`;
}

export function compactionSentence(row: Compaction): string {
  return `Compacted ${plural(row.messages, 'message')}, ${tokens(row.tokensBefore)} to ${tokens(row.tokensAfter)} tokens`;
}

function facts(row: Compaction): string[] {
  return [
    `${tokens(row.tokensBefore)} → ${tokens(row.tokensAfter)} tokens`,
    method(row),
    ...(reason[row.trigger] ? [reason[row.trigger]] : []),
    ...(row.continuity ? [`continuity ${Math.round(row.continuity.inContextPercent)} %`] : []),
    ...(row.durationMs >= 1000 ? [duration(row.durationMs)] : []),
  ];
}

const reason: Readonly<Record<Compaction['trigger'], string>> = { automatic: '', manual: 'on request', overflow: 'the model refused the length', edit: 'summary edited', retry: 'summary improved' };

function continuityText({ inContextPercent, reachablePercent, elements, searched }: NonNullable<Compaction['continuity']>): string {
  const kept = `Of ${plural(elements, 'detail')} that mattered, ${Math.round(inContextPercent)} % by weight are in the summary`;
  return reachablePercent === null ? `${kept}.` : `${kept}; a search finds ${Math.round(reachablePercent)} % of ${searched} that were tried.`;
}

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
