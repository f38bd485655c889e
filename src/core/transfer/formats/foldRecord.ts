import type { ContentOf } from '../../session/entry';
import { english } from '../../l10n';
import { estimateTokens } from '../../context/measure/estimateTokens';

/** Another program's compaction, so that the projection goes on from its summary. `firstKept` names a record. */
export function foreignCompaction(
  operationId: string,
  summaryText: string,
  firstKept: string | null,
  tokensBefore: number,
  more: Partial<ContentOf<'compaction'>> = {},
): ContentOf<'compaction'> {
  return {
    type: 'compaction',
    operationId,
    summaryText,
    firstKeptEntry: firstKept,
    coversFrom: null,
    tokensBefore,
    tokensAfter: estimateTokens(summaryText),
    messagesBefore: 0,
    messagesAfter: 0,
    trigger: 'automatic',
    rung: summaryText.trim() === '' ? 'truncate' : 'model',
    model: null,
    durationMs: 0,
    heldMs: 0,
    needsSummaryRetry: false,
    note: english('Made by the program that this session was imported from.'),
    ...more,
  };
}
