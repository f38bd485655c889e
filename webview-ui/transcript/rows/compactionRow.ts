import { html, nothing, type TemplateResult } from 'lit';
import { t, wholeNumber } from '../../../src/protocol/l10n';
import type { TranscriptRow } from '../../../src/protocol/messages';
import { keptDetails, summaryMethod, unknownCitations } from '../../../src/protocol/compactionTexts';
import { ask } from '../../lib/events';
import { shortTokens } from '../../../src/protocol/figures';
import { costText, duration } from '../../lib/format';
import { icon } from '../../render/icons';
import { moreMenu, type MenuItem } from './moreMenu';
import type { RowContext } from './rowParts';

type Compaction = TranscriptRow & { kind: 'compaction' };

/** What took the place of the folded messages, and the way back. */
export function compactionRow(row: Compaction, { expanded, undoable, toggle }: RowContext): TemplateResult {
  return html`
    <div class="compaction-card ${row.state}" role="group" aria-label=${t('Compaction')}>
      <div class="compaction-head">
        ${icon('fold')}
        <div>
          <span class="compaction-title">${title(row)}</span>
          ${row.state === 'live' ? nothing : html`<span class="state">${stateNames[row.state]()}</span>`}
          <div class="compaction-facts" title=${row.continuity ? continuityText(row.continuity) : nothing}>${facts(row).join(' · ')}</div>
        </div>
      </div>
      ${row.note ? html`<p class="compaction-note">${row.note}</p>` : nothing}
      <div class="actions">
        ${
          row.summary
            ? html`<vscode-button appearance="secondary" aria-expanded=${expanded} @click=${toggle}>
              ${expanded ? t('Hide summary') : t('Show summary')}
            </vscode-button>`
            : nothing
        }
        ${row.state === 'live' && undoable ? undoButton() : nothing}
        ${moreMenu(t('More about this compaction'), more(row, undoable))}
      </div>
      ${expanded && row.continuity ? html`<p class="compaction-note">${continuityText(row.continuity)}</p>` : nothing}
      ${expanded && row.unknownIds.length > 0 ? html`<p class="compaction-note">${unknownCitations(row.unknownIds)}</p>` : nothing}
      ${
        expanded && row.summary
          ? html`<tk-markdown class="summary" .source=${{ text: row.summary, streaming: false }}></tk-markdown>`
          : nothing
      }
    </div>
  `;
}

/**
 * Only the newest one can be changed, or an earlier summary of the same messages be put in its place. A record without a summary has
 * nothing to rewrite.
 */
function more(row: Compaction, undoable: boolean): readonly MenuItem[] {
  const { state, reusable, summary, coversFrom, messages, id } = row;
  return [
    ...(state === 'live' && undoable && summary
      ? ([
          { label: t('Edit summary…'), request: { method: 'edit_summary' } },
          { label: t('Re-summarize…'), request: { method: 'resummarize' } },
        ] as const)
      : []),
    ...(reusable && summary ? [{ label: t('Use this summary again'), request: { method: 'reuse_summary', id } } as const] : []),
    { label: t('Compare before and after'), request: { method: 'compare', id } },
    ...(coversFrom !== null && messages > 0
      ? [{ label: t('Show originals'), request: { method: 'show_entry', id: coversFrom } } as const]
      : []),
  ];
}

/** On a card whose summary the user has edited, it could be taken for the undo of the edit. */
function undoButton(): TemplateResult {
  const title = t('Undo the compaction: the model sees the messages themselves again');
  return html`<vscode-button appearance="secondary" title=${title} @click=${ask({ method: 'undo_compaction' })}>${t('Undo')}</vscode-button>`;
}

/** Another program's record does not say how many. */
function title({ messages }: Compaction): string {
  if (messages === 0) return t('Compacted earlier messages');
  return t(messages === 1 ? 'Compacted {0} message' : 'Compacted {0} messages', wholeNumber(messages));
}

/** For those who hear it: what was folded, and whether what mattered is still there. */
export function compactionSentence(row: Compaction): string {
  return `${foldedSentence(row)}. ${keptDetails(row.continuity)}`;
}

function foldedSentence(row: Compaction): string {
  if (row.messages === 0)
    return t('Compacted earlier messages, {0} to {1} tokens', shortTokens(row.tokensBefore), shortTokens(row.tokensAfter));
  return t(
    row.messages === 1 ? 'Compacted {0} message, {1} to {2} tokens' : 'Compacted {0} messages, {1} to {2} tokens',
    wholeNumber(row.messages),
    shortTokens(row.tokensBefore),
    shortTokens(row.tokensAfter),
  );
}

function facts(row: Compaction): string[] {
  return [
    t('{0} → {1} tokens', shortTokens(row.tokensBefore), shortTokens(row.tokensAfter)),
    summaryMethod(row),
    ...(row.trigger === 'automatic' ? [] : [reason[row.trigger]()]),
    ...(row.saved && row.saved.tokens > 0 ? [savedText(row.saved)] : []),
    keptDetails(row.continuity),
    ...(row.durationMs >= 1000 ? [duration(row.durationMs)] : []),
  ];
}

/** `saved 35k tokens ($0.13)` */
function savedText({ tokens, cost }: NonNullable<Compaction['saved']>): string {
  const price = cost === null ? '' : ` (${costText({ usd: cost, requestsWithoutCost: 0, requestsEstimated: 0 }, 1)})`;
  return t('saved {0} tokens{1}', shortTokens(tokens), price);
}

const stateNames: Readonly<Record<Compaction['state'], () => string>> = {
  live: () => t('in force'),
  undone: () => t('undone'),
  replaced: () => t('replaced'),
  superseded: () => t('superseded'),
};
const reason: Readonly<Record<Exclude<Compaction['trigger'], 'automatic'>, () => string>> = {
  manual: () => t('on request'),
  overflow: () => t('the model refused the length'),
  cold: () => t('no longer in the prompt cache'),
  edit: () => t('summary edited'),
  retry: () => t('summary improved'),
};

function continuityText({ inContextPercent, reachablePercent, elements, searched }: NonNullable<Compaction['continuity']>): string {
  const [all, kept] = [wholeNumber(elements), Math.round(inContextPercent)];
  // The share is weighted, so that it is a count only when nothing is missing.
  const inSummary =
    kept === 100
      ? t('Kept all {0} key details.', all)
      : t('The summary has {0}% of {1} key details; the rest can be looked up in the originals.', kept, all);
  if (reachablePercent === null) return inSummary;
  return `${inSummary} ${t('{0} of {1} test searches found the original.', Math.round((reachablePercent / 100) * searched), searched)}`;
}
