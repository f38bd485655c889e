import type { ContentOf } from '../core/session/entry';
import { shortTokens } from './statusText';

/** One line about a compaction, for surfaces that show no card. */
export function compactionText({ messagesBefore, messagesAfter, tokensBefore, tokensAfter }: ContentOf<'compaction'>): string {
  const folded = messagesBefore - messagesAfter;
  return `Compacted ${folded} ${folded === 1 ? 'message' : 'messages'}: ${shortTokens(tokensBefore)} → ${shortTokens(tokensAfter)} tokens. Nothing was deleted.`;
}

/** How a summary was made, in words for the user. */
export function methodText({ rung, model }: Pick<ContentOf<'compaction'>, 'rung' | 'model'>): string {
  const by = model === null ? '' : ` by ${model}`;
  switch (rung) {
    case 'mask':
      return 'old tool results are left out';
    case 'checkpoint':
      return `summary${by} from a checkpoint`;
    case 'prepared':
      return `summary${by}, prepared in the background`;
    case 'model':
      return `summary${by}`;
    case 'extractive':
      return 'passages of the conversation, word for word: no model could summarise';
    case 'truncate':
      return 'the oldest messages are left out';
  }
}
