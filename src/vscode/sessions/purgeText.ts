import { t, wholeNumber } from '../../core/l10n';
import type { PurgePreview } from '../../core/maintenance/reports';

/** What a deletion takes away and what it leaves, in a sentence each. */
export function purgeText({ entries, keptEntries, bytes }: PurgePreview): string {
  const goes =
    entries === 0
      ? t('No entries go with it.')
      : t(
          entries === 1 ? 'This deletes {0} entry ({1}) from the history.' : 'This deletes {0} entries ({1}) from the history.',
          wholeNumber(entries),
          bytesText(bytes),
        );
  const stays =
    keptEntries === 0
      ? ''
      : ` ${t(keptEntries === 1 ? 'Other sessions keep the {0} entry that they share.' : 'Other sessions keep the {0} entries that they share.', wholeNumber(keptEntries))}`;
  return `${goes}${stays} ${t('This cannot be undone.')}`;
}

/** 950 bytes, 3.9 kB, 12 MB */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [value, unit] =
    bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : bytes < 1_000_000_000 ? [bytes / 1_000_000, 'MB'] : [bytes / 1_000_000_000, 'GB'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`;
}
