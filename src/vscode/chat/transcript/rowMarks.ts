import type { Fork } from '../../../core/branches/branch';
import { isEntryOf, markTypes, type StoredEntry } from '../../../core/session/entry';
import type { RowMark } from '../../../protocol/messages';

/** What stands at rows whatever their kind: labels, and the other branches where the conversation forks. */
export class RowMarks {
  private readonly labels = new Map<string, string>();
  /** By the row that shows them: the first one after the fork. */
  private readonly forks = new Map<string, Fork>();
  /** Forks behind which there is no row yet. */
  private open: Fork[] = [];
  /** First entries of branches that go on from the leaf; the next entry is one more of them. */
  private beyond: readonly string[] = [];

  clear(beyondLeaf: readonly string[]): void {
    this.labels.clear();
    this.forks.clear();
    this.open = [];
    this.beyond = beyondLeaf;
  }

  /** `isRow`: whether an entry has a row of its own. The entries of a page, or of one that is appended. */
  learn(entries: readonly StoredEntry[], forks: readonly Fork[], isRow: (entry: StoredEntry) => boolean): void {
    for (const entry of entries) if (isEntryOf(entry, 'label')) this.labels.set(entry.content.target, entry.content.label);
    const rows = entries.filter((entry) => !markTypes.has(entry.content.type) && isRow(entry));
    const waiting = [...this.open, ...forks];
    this.open = waiting.filter(({ seq }) => !rows.some((row) => row.seq >= seq));
    for (const fork of waiting) {
      const at = rows.find((row) => row.seq >= fork.seq);
      if (at) this.forks.set(at.uuid, fork);
    }
  }

  append(entry: StoredEntry, isRow: (entry: StoredEntry) => boolean): void {
    const fork = markTypes.has(entry.content.type) ? null : this.begun(entry);
    this.learn([entry], fork ? [fork] : [], isRow);
  }

  /** Returns the marks of rows, which are given by their entries in order. `toLeaf`: the last of them is the last there is. */
  of(rows: readonly StoredEntry[], toLeaf: boolean): RowMark[] {
    const last = toLeaf ? rows.findLast(({ content }) => !markTypes.has(content.type))?.uuid : undefined;
    return rows
      .map(({ uuid }) => this.at(uuid, uuid === last))
      .filter(({ label, fork, beyond }) => label !== null || fork !== null || beyond.length > 0);
  }

  at(id: string, isLast: boolean): RowMark {
    const fork = this.forks.get(id);
    return {
      id,
      label: this.labels.get(id) || null,
      fork: fork ? { at: fork.branches.indexOf(fork.entry), branches: [...fork.branches] } : null,
      beyond: isLast ? [...this.beyond] : [],
    };
  }

  private begun({ uuid, seq }: StoredEntry): Fork | null {
    const others = this.beyond.filter((other) => other !== uuid);
    this.beyond = [];
    return others.length === 0 || this.open.some(({ entry }) => entry === uuid) ? null : { entry: uuid, seq, branches: [...others, uuid] };
  }
}
