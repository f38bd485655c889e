import { t } from './l10n';
import type { TranscriptRow } from './messages';

/** How a compaction was made, in a few words: on its card, in the breakdown and in a preview. */
export function summaryMethod({ rung, model }: Pick<Extract<TranscriptRow, { kind: 'compaction' }>, 'rung' | 'model'>): string {
  switch (rung) {
    case 'mask':
      return t('old tool results left out');
    case 'checkpoint':
      return model === null ? t('summary from a checkpoint') : t('summary by {0} from a checkpoint', model);
    case 'prepared':
      return model === null ? t('summary, prepared in background') : t('summary by {0}, prepared in background', model);
    case 'model':
      return model === null ? t('summary') : t('summary by {0}', model);
    case 'extractive':
      return t('extractive summary');
    case 'truncate':
      return t('oldest messages left out');
  }
}
