import type { SessionStore } from '../ports';
import { isEntryOf, type StoredEntry } from '../session/entry';
import { liveCompaction } from '../session/liveCompaction';

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
