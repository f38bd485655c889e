import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../../../src/protocol/l10n';
import type { TranscriptRow } from '../../../src/protocol/messages';
import { ask } from '../../lib/events';
import { shortTokens, visibleText } from '../../../src/protocol/figures';
import { icon } from '../../render/icons';
import type { RowContext } from './rowParts';

type Kind<K extends TranscriptRow['kind']> = TranscriptRow & { kind: K };

const outcomes = {
  delivered: () => t('the model was asked to save what matters'),
  acted: () => t('the model saved a note'),
  expired: () => t('nothing was saved'),
} as const;

export function nudgeRow(row: Kind<'nudge'>, { expanded, toggle }: RowContext): TemplateResult {
  return html`
    <div class="quiet nudge ${row.outcome}">
      <button type="button" class="disclosure" aria-expanded=${expanded} @click=${toggle}>
        ${icon(row.outcome === 'acted' ? 'check' : 'bell')}
        <span>${t('Memory reminder at {0}% ({1}): {2}', Math.round(row.percent), shortTokens(row.usedTokens), outcomes[row.outcome]())}</span>
      </button>
      ${row.writes.map(
        ({ call, path, command, hasDiff }) => html`<div class="note-write">
          <span>${noteVerbs[command]?.() ?? command} <b>${path}</b></span>
          ${hasDiff ? html`<button type="button" class="link-button" aria-label=${t('Diff of the change in {0}', path)} @click=${ask({ method: 'show_diff', id: call })}>${t('Diff')}</button>` : nothing}
          ${command === 'delete' ? nothing : html`<button type="button" class="link-button" aria-label=${t('Edit the note {0}', path)} @click=${ask({ method: 'open_note', path })}>${t('Edit')}</button>`}
        </div>`,
      )}
      ${row.outcome === 'expired' ? html`<div class="note-write"><button type="button" class="link-button" @click=${ask({ method: 'save_note' })}>${t('Save a note now…')}</button></div>` : nothing}
      ${expanded ? html`<div class="nudge-text">${row.text}</div>` : nothing}
    </div>
  `;
}

const noteVerbs: Readonly<Record<string, () => string>> = {
  create: () => t('Wrote'),
  str_replace: () => t('Changed'),
  insert: () => t('Added to'),
  delete: () => t('Deleted'),
  rename: () => t('Renamed to'),
};

export function checkpointRow(row: Kind<'checkpoint'>, { expanded, toggle }: RowContext): TemplateResult {
  const size = shortTokens(row.tokens);
  return html`
    <div class="quiet checkpoint">
      <button type="button" class="disclosure" aria-expanded=${expanded} @click=${toggle}>
        ${icon('milestone')}
        <span>${row.model === null ? t('Saved a snapshot for the next compaction ({0} tokens)', size) : t('Saved a snapshot for the next compaction ({0} tokens, {1})', size, row.model)}</span>
      </button>
      ${expanded ? html`<tk-markdown class="checkpoint-text" .source=${{ text: row.summary, streaming: false }}></tk-markdown>` : nothing}
    </div>
  `;
}

export function branchSummaryRow(row: Kind<'branch_summary'>, { expanded, toggle }: RowContext): TemplateResult {
  return html`
    <div class="quiet checkpoint">
      <button type="button" class="disclosure" aria-expanded=${expanded} @click=${toggle}>
        ${icon('branch')}
        <span>${t('Brought along from the branch you left')}</span>
      </button>
      ${expanded ? html`<tk-markdown class="checkpoint-text" .source=${{ text: row.summary, streaming: false }}></tk-markdown>` : nothing}
    </div>
  `;
}

export function skillRow(row: Kind<'skill'>, { expanded, toggle }: RowContext): TemplateResult {
  return html`
    <div class="quiet checkpoint">
      <button type="button" class="disclosure" aria-expanded=${expanded} @click=${toggle}>
        ${icon('file')}
        <span>${t('Read the skill {0}', row.title)}</span>
      </button>
      ${expanded ? html`<tk-markdown class="checkpoint-text" .source=${{ text: row.text, streaming: false }}></tk-markdown>` : nothing}
    </div>
  `;
}

export function undoRow(row: Kind<'undo'>): TemplateResult {
  return html`<div class="quiet">${icon('undo')} <span>${t('Compaction undone: the context has {0} tokens again', shortTokens(row.tokensRestored))}</span></div>`;
}

export function infoRow(row: Kind<'info'>): TemplateResult {
  return html`<div class="quiet">${icon('info')} <span>${row.text}</span></div>`;
}

export function errorRow(row: Kind<'error'>, { last }: RowContext): TemplateResult {
  const needsKey = row.reason === 'bad_key' || row.reason === 'no_key';
  const overLimit = row.reason === 'cost_limit';
  return html`
    <div class="error-row ${last ? '' : 'past'}" role="group" aria-label=${t('Error')}>
      <div class="error-text">${icon('error')} <span>${row.text}</span></div>
      ${row.details === undefined ? nothing : html`<details class="error-details"><summary>${t('Details')}</summary><p>${visibleText(row.details, 'lines')}</p></details>`}
      <div class="actions">
        ${last && needsKey ? html`<vscode-button @click=${ask({ method: 'set_api_key' })}>${t('Set API key…')}</vscode-button>` : nothing}
        ${
          last && overLimit
            ? html`<vscode-button @click=${ask({ method: 'edit_session_details' })}>${t('Edit Session Details…')}</vscode-button>`
            : nothing
        }
        ${
          last && row.reason === 'no_key'
            ? html`<vscode-button appearance="secondary" @click=${ask({ method: 'select_model' })}>${t('Select model…')}</vscode-button>`
            : nothing
        }
        ${
          last
            ? html`<vscode-button appearance=${needsKey || overLimit ? 'secondary' : 'primary'} @click=${ask({ method: 'retry' })}>${row.reason === 'rounds' ? t('Continue') : t('Try again')}</vscode-button>`
            : nothing
        }
        ${row.reason === 'no_key' ? nothing : html`<vscode-button appearance="secondary" @click=${ask({ method: 'show_log' })}>${t('Show log')}</vscode-button>`}
      </div>
    </div>
  `;
}
