import { contextExclusionOf, excludedEntries } from '../context/contextExclusion';
import { isEntryOf, kindOf, type EntryOf, type StoredEntry } from './entry';
import type { SessionStore } from '../ports';

/**
 * The compaction that shapes the projection of a branch: the newest one that is neither undone nor superseded. Entries are
 * root side first; null when the branch is projected in full.
 */
export function liveCompaction(entries: readonly StoredEntry[]): EntryOf<'compaction'> | null {
  const gone = new Set<string>();
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]!;
    if (entry.content.type === 'compaction_undone') gone.add(entry.content.target);
    if (!isEntryOf(entry, 'compaction')) continue;
    if (entry.content.supersedes) gone.add(entry.content.supersedes);
    if (!gone.has(entry.uuid)) return entry;
  }
  return null;
}

/** The entries of the current cycle: those after the live compaction's record, or all of them. */
export function cycleEntries(entries: readonly StoredEntry[]): readonly StoredEntry[] {
  const live = liveCompaction(entries);
  return live ? entries.slice(entries.indexOf(live) + 1) : entries;
}

/** Entries that the model sees verbatim: from the live compaction's first kept entry (or the root) to the leaf. */
export function verbatimEntries(entries: readonly StoredEntry[]): readonly StoredEntry[] {
  const live = liveCompaction(entries);
  if (!live) return entries;
  const record = firstOfRange(live, entries);
  const from = entries.findIndex((entry) => entry.uuid === record.content.firstKeptEntry);
  return entries.slice(from === -1 ? entries.indexOf(record) + 1 : from);
}

/**
 * The record that says where the verbatim part of `live` begins. Where nothing was kept that is behind the record itself, but a record
 * that has taken its place comes later, and what was said between the two is sent too: then it is the earliest of these records.
 */
export function firstOfRange(live: EntryOf<'compaction'>, entries: readonly StoredEntry[]): EntryOf<'compaction'> {
  let first = live;
  // Only ever upwards, so that damaged records that name each other come to an end.
  for (let i = entries.indexOf(live) - 1; i >= 0 && first.content.firstKeptEntry === null && first.content.supersedes; i--) {
    const entry = entries[i]!;
    if (entry.uuid === first.content.supersedes && isEntryOf(entry, 'compaction')) first = entry;
  }
  return first;
}

/** `custom` entry with the size from which on entries of its cycle are sent as head and tail. */
export const policyChange = 'policy_change';

/** What a `policy_change` says. */
export interface PolicyChangeData {
  /** Tokens of an entry, uncalibrated. */
  readonly oversized: number;
  /** An entry that was sent by another size is among those it applies to. */
  readonly isBreak: boolean;
  /** Whether the results of one step share a bound (`stepBounds`): records of earlier versions know of none. */
  readonly shared: boolean;
  /** The policy's own size, where less had to be shown than that. */
  readonly insteadOf?: number;
}

/** Null for every other entry. */
export function policyChangeOf({ content }: StoredEntry): PolicyChangeData | null {
  if (content.type !== 'custom' || content.customType !== policyChange) return null;
  const { oversized, isBreak, shared, insteadOf } = content.data as {
    oversized?: unknown;
    isBreak?: unknown;
    shared?: unknown;
    insteadOf?: unknown;
  };
  if (typeof oversized !== 'number') return null;
  return { oversized, isBreak: isBreak === true, shared: shared === true, ...(typeof insteadOf === 'number' ? { insteadOf } : {}) };
}

/** What the newest `policy_change` of this cycle says; null: none has been recorded. */
export function recordedBound(entries: readonly StoredEntry[]): PolicyChangeData | null {
  const known = cycleEntries(entries).findLast((entry) => policyChangeOf(entry) !== null);
  return known ? policyChangeOf(known) : null;
}

/**
 * Index of the first entry after the last declared prefix break; 0 when there was none. A discarded attempt is none: its entries were
 * in no prompt that anything was built on.
 */
export function afterLastBreak(entries: readonly StoredEntry[]): number {
  return entries.findLastIndex(isPrefixBreak) + 1;
}

function isPrefixBreak(entry: StoredEntry): boolean {
  return kindOf(entry.content).breaksPrefix || policyChangeOf(entry)?.isBreak === true || contextExclusionOf(entry) !== null;
}

/** `custom` entry that takes the blocks of a failed attempt out of the projection; they stay in the transcript, marked. */
export const attemptDiscarded = 'attempt_discarded';

function isDiscardMark(entry: StoredEntry): boolean {
  return entry.content.type === 'custom' && entry.content.customType === attemptDiscarded;
}

/** Entries of failed attempts: part of the history, not of the prompt. */
export function discardedEntries(entries: readonly StoredEntry[]): ReadonlySet<string> {
  const discarded = new Set<string>();
  for (const entry of entries) {
    if (!isDiscardMark(entry) || entry.content.type !== 'custom') continue;
    const data = entry.content.data as { entries?: unknown };
    if (Array.isArray(data.entries)) for (const uuid of data.entries) if (typeof uuid === 'string') discarded.add(uuid);
  }
  return discarded;
}

/** Entries that are part of the history, not of the prompt: those of failed attempts, and those that the user has taken out. */
export function leftOutEntries(entries: readonly StoredEntry[]): ReadonlySet<string> {
  return new Set([...discardedEntries(entries), ...excludedEntries(entries)]);
}

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

/**
 * Other summaries of the range of the live record, which it has taken the place of, the newest first; `find`: an entry by its id. A record
 * that has only left out results is none.
 */
export function earlierSummaries(live: EntryOf<'compaction'>, find: (uuid: string) => StoredEntry | undefined): EntryOf<'compaction'>[] {
  const chain = new Set([live]);
  for (const { content } of chain) {
    const before = content.supersedes ? find(content.supersedes) : undefined;
    // Damaged records that name each other are in the set already.
    if (before && isEntryOf(before, 'compaction')) chain.add(before);
  }
  return [...chain].slice(1).filter(({ content }) => content.rung !== 'mask');
}

/** How many compactions stand behind a prompt: its own, and those whose state went into it. The live branch has only the newest. */
export class CompactionChain {
  /** Each record has one. It never changes: what a record was made over is part of it. */
  private readonly lengths = new Map<string, number>();

  constructor(private readonly store: Pick<SessionStore, 'entries'>) {}

  /** There are at least so many; this is known without asking the store. */
  count(entries: readonly StoredEntry[]): number {
    const records = entries.filter((entry) => isEntryOf(entry, 'compaction'));
    for (const { uuid, content } of records) {
      const before = content.previous ? this.lengths.get(content.previous) : 0;
      if (before !== undefined) this.lengths.set(uuid, before + 1);
    }
    const live = liveCompaction(entries);
    return live ? (this.lengths.get(live.uuid) ?? 1) : 0;
  }

  /** Reads what is missing, one record after the other. True: there is more than `count` said. Rejects with `StoreError`. */
  async settle(entries: readonly StoredEntry[]): Promise<boolean> {
    const known = this.count(entries);
    const older: StoredEntry[] = [];
    for (let next = liveCompaction(entries)?.content.previous ?? null; next !== null && !this.lengths.has(next); ) {
      const [entry] = await this.store.entries([next]);
      if (!entry || !isEntryOf(entry, 'compaction')) break;
      older.unshift(entry);
      next = entry.content.previous ?? null;
    }
    for (const entry of older) this.count([entry]);
    return this.count(entries) !== known;
  }
}
