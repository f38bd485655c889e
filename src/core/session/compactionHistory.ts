import { isEntryOf, type EntryOf, type StoredEntry } from './entry';

export interface PastCompaction {
  readonly entry: EntryOf<'compaction'>;
  /** `replaced`: by a better summary of the same range; `superseded`: by a later compaction. */
  readonly state: 'live' | 'undone' | 'replaced' | 'superseded';
}

/** What has become of each compaction of a branch, root side first. */
export function compactionHistory(entries: readonly StoredEntry[]): PastCompaction[] {
  const undone = new Set(entries.flatMap(({ content }) => (content.type === 'compaction_undone' ? [content.target] : [])));
  const records = entries.filter((entry) => isEntryOf(entry, 'compaction'));
  const replaced = new Set(records.flatMap(({ content }) => content.supersedes ?? []));
  const live = records.findLast(({ uuid }) => !undone.has(uuid) && !replaced.has(uuid));
  return records.map((entry) => ({
    entry,
    state: undone.has(entry.uuid) ? 'undone' : entry === live ? 'live' : replaced.has(entry.uuid) ? 'replaced' : 'superseded',
  }));
}
