import { t } from '../../core/l10n';
import type { ContentOf } from '../../core/session/entry';
import { shortTokens } from '../../protocol/figures';

/** One line about a compaction, for surfaces that show no card. */
export function compactionText({ messagesBefore, messagesAfter, tokensBefore, tokensAfter }: ContentOf<'compaction'>): string {
  const folded = messagesBefore - messagesAfter;
  return t(
    folded === 1
      ? 'Compacted {0} message: {1} → {2} tokens. Nothing was deleted.'
      : 'Compacted {0} messages: {1} → {2} tokens. Nothing was deleted.',
    folded,
    shortTokens(tokensBefore),
    shortTokens(tokensAfter),
  );
}
