import type { PurgePreview } from '../core/session/purgePreview';

/** What a deletion takes away and what it leaves, in a sentence each. */
export function purgeText({ entries, keptEntries, bytes }: PurgePreview): string {
  const goes = entries === 0 ? 'No entries go with it.' : `This deletes ${countText(entries, 'entry', 'entries')} (${bytesText(bytes)}) from the history.`;
  const stays = keptEntries === 0 ? '' : ` Other sessions keep the ${countText(keptEntries, 'entry', 'entries')} that they share.`;
  return `${goes}${stays} This cannot be undone.`;
}

/** 950 bytes, 3.9 kB, 12 MB */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const [value, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : bytes < 1_000_000_000 ? [bytes / 1_000_000, 'MB'] : [bytes / 1_000_000_000, 'GB'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`;
}

function countText(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
