import type { ContentOf } from '../../../src/core/session/entry';

export function compactionContent(
  operationId: string,
  firstKeptEntry: string | null,
  more: Partial<ContentOf<'compaction'>> = {},
): ContentOf<'compaction'> {
  return {
    type: 'compaction',
    operationId,
    summaryText: 'summary',
    firstKeptEntry,
    coversFrom: null,
    tokensBefore: 10,
    tokensAfter: 2,
    messagesBefore: 5,
    messagesAfter: 1,
    trigger: 'manual',
    rung: 'model',
    model: 'm',
    durationMs: 1,
    heldMs: 0,
    needsSummaryRetry: false,
    ...more,
  };
}
