import type { Fork, TranscriptPage } from '../../../core/branches/branch';
import { isEntryOf, markTypes, type StoredEntry } from '../../../core/session/entry';
import { noRow, type RowMark } from '../../../protocol/messages';
import { TurnChanges } from './turnChanges';

/** What stands at rows whatever their kind: labels, the other branches where the conversation forks, and what turns did to files. */
export class RowMarks {
  private readonly labels = new Map<string, string>();
  /** By the row that shows them: the first one after the fork. */
  private readonly forks = new Map<string, Fork>();
  /** Forks behind which there is no row yet. */
  private open: Fork[] = [];
  /** First entries of branches that go on from the leaf; the next entry is one more of them. */
  private beyond: readonly string[] = [];
  private readonly changes = new TurnChanges();

  clear(beyondLeaf: readonly string[]): void {
    this.labels.clear();
    this.forks.clear();
    this.open = [];
    this.changes.clear();
    this.beyond = beyondLeaf;
  }

  /** `isRow`: whether an entry has a row of its own; `isNewest`: no page follows this one. */
  learn({ entries, forks, earlier = [] }: TranscriptPage, isNewest: boolean, isRow: (entry: StoredEntry) => boolean): void {
    this.changes.learn(entries, earlier, isNewest, isRow);
    this.note(entries, forks, isRow);
  }

  private note(entries: readonly StoredEntry[], forks: readonly Fork[], isRow: (entry: StoredEntry) => boolean): void {
    for (const entry of entries) if (isEntryOf(entry, 'label')) this.labels.set(entry.content.target, entry.content.label);
    const rows = entries.filter((entry) => !markTypes.has(entry.content.type) && isRow(entry));
    const waiting = [...this.open, ...forks];
    this.open = waiting.filter(({ seq }) => !rows.some((row) => row.seq >= seq));
    for (const fork of waiting) {
      const at = rows.find((row) => row.seq >= fork.seq);
      if (at) this.forks.set(at.uuid, fork);
    }
  }

  /** Returns the rows whose marks are others by what was done to files. */
  append(entry: StoredEntry, isRow: boolean): string[] {
    const fork = markTypes.has(entry.content.type) ? null : this.begun(entry);
    this.note([entry], fork ? [fork] : [], () => isRow);
    return this.changes.append(entry, isRow);
  }

  /** Returns the marks of rows, which are given by their entries in order. `toLeaf`: the last of them is the last there is. */
  of(rows: readonly StoredEntry[], toLeaf: boolean): RowMark[] {
    if (rows.length === 0) return toLeaf && this.beyond.length > 0 ? [this.at(noRow, true)] : [];
    const last = toLeaf ? rows.findLast(({ content }) => !markTypes.has(content.type))?.uuid : undefined;
    return rows
      .map(({ uuid }) => this.at(uuid, uuid === last))
      .filter(({ label, fork, beyond, changes }) => label !== null || fork !== null || beyond.length > 0 || changes !== undefined);
  }

  at(id: string, isLast: boolean): RowMark {
    const fork = this.forks.get(id);
    const changes = this.changes.at(id);
    return {
      id,
      label: this.labels.get(id) || null,
      fork: fork ? { at: fork.branches.indexOf(fork.entry), branches: [...fork.branches] } : null,
      beyond: isLast ? [...this.beyond] : [],
      ...(changes ? { changes } : {}),
    };
  }

  private begun({ uuid, seq }: StoredEntry): Fork | null {
    const others = this.beyond.filter((other) => other !== uuid);
    this.beyond = [];
    return others.length === 0 || this.open.some(({ entry }) => entry === uuid) ? null : { entry: uuid, seq, branches: [...others, uuid] };
  }
}
