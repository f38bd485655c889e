import { t } from '../core/l10n';
import type { ContentOf } from '../core/session/entry';
import { shortTokens } from './statusText';

/** One line about a compaction, for surfaces that show no card. */
export function compactionText({ messagesBefore, messagesAfter, tokensBefore, tokensAfter }: ContentOf<'compaction'>): string {
  const folded = messagesBefore - messagesAfter;
  return t(folded === 1 ? 'Compacted {0} message: {1} → {2} tokens. Nothing was deleted.' : 'Compacted {0} messages: {1} → {2} tokens. Nothing was deleted.', folded, shortTokens(tokensBefore), shortTokens(tokensAfter));
}

/** How a summary was made, in words for the user. */
export function methodText({ rung, model }: Pick<ContentOf<'compaction'>, 'rung' | 'model'>): string {
  switch (rung) {
    case 'mask':
      return t('old tool results are left out');
    case 'checkpoint':
      return model === null ? t('summary from a checkpoint') : t('summary by {0} from a checkpoint', model);
    case 'prepared':
      return model === null ? t('summary, prepared in background') : t('summary by {0}, prepared in background', model);
    case 'model':
      return model === null ? t('summary') : t('summary by {0}', model);
    case 'extractive':
      return t('passages of the conversation, word for word: no model could summarise');
    case 'truncate':
      return t('the oldest messages are left out');
  }
}
