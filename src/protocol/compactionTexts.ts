import { t } from './l10n';
import type { TranscriptRow } from './messages';
import type { Continuity } from '../core/session/entry';

/** How a compaction was made, in a few words: on its card, in the breakdown and in a preview. */
export function summaryMethod({ rung, model }: Pick<Extract<TranscriptRow, { kind: 'compaction' }>, 'rung' | 'model'>): string {
  switch (rung) {
    case 'mask':
      return t('old tool results left out');
    case 'checkpoint':
      return model === null ? t('summary from a snapshot') : t('summary by {0} from a snapshot', model);
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

/** How much of what mattered a compaction has kept. One that nobody has measured says so: it has not kept everything. */
export function keptDetails(continuity: Pick<Continuity, 'inContextPercent'> | null): string {
  return continuity === null ? t('Key details kept: not measured') : t('Key details kept: {0}%', Math.round(continuity.inContextPercent));
}

/** Ids named; the rest are counted by the reader. */
const mostNamed = 6;

/** About ids that a summary cited and that no message has, each once. Empty when there are none. */
export function unknownCitations(ids: readonly string[]): string {
  const [first] = ids;
  if (first === undefined) return '';
  if (ids.length === 1) return t('Fixed a wrong source reference ({0}).', first);
  const named = ids.slice(0, mostNamed).join(', ');
  return t('Fixed wrong source references ({0}).', ids.length > mostNamed ? `${named} …` : named);
}
