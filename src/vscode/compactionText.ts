import type { ContentOf } from '../core/session/entry';
import { shortTokens } from './statusText';

/** One line about a compaction, for surfaces that show no card. */
export function compactionText({ messagesBefore, messagesAfter, tokensBefore, tokensAfter }: ContentOf<'compaction'>): string {
  const folded = messagesBefore - messagesAfter;
  return `Compacted ${folded} ${folded === 1 ? 'message' : 'messages'}: ${shortTokens(tokensBefore)} → ${shortTokens(tokensAfter)} tokens. Nothing was deleted.`;
}
