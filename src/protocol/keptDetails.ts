import type { Continuity } from '../core/session/fidelity';
import { t } from './l10n';

/** How much of what mattered a compaction has kept. One that nobody has measured says so: it has not kept everything. */
export function keptDetails(continuity: Pick<Continuity, 'inContextPercent'> | null): string {
  return continuity === null ? t('Key details kept: not measured') : t('Key details kept: {0} %', Math.round(continuity.inContextPercent));
}
