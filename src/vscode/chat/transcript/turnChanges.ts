import { changedText, uncoveredList } from '../../../core/rewind/fileTexts';
import type { FileMark } from '../../../core/rewind/fileHistory';
import { isOpen, isUndone, reviewedFiles } from '../../../core/rewind/turnReview';
import { isEntryOf, isUserMessage, markTypes, type StoredEntry } from '../../../core/session/entry';
import type { RowMark } from '../../../protocol/messages';

/** Before the first message. */
const none = '';

/** What turns have done to files: it stands at the last row of each, which moves while the turn goes on. */
export class TurnChanges {
  private readonly marks = new Map<string, Map<string, FileMark>>();
  /** The last row of each turn. */
  private readonly last = new Map<string, { readonly id: string; readonly seq: number }>();
  /** The turn that an appended entry belongs to. */
  private current = none;

  clear(): void {
    this.marks.clear();
    this.last.clear();
    this.current = none;
  }

  /** The entries of a page, with what it has of the turn in whose middle it begins; `isNewest`: no page follows it. */
  learn(entries: readonly StoredEntry[], earlier: readonly StoredEntry[], isNewest: boolean, isRow: (entry: StoredEntry) => boolean): void {
    let turn = none;
    for (const entry of earlier) turn = this.take(entry, turn);
    for (const entry of entries) {
      turn = this.take(entry, turn);
      if (!markTypes.has(entry.content.type) && isRow(entry)) this.row(turn, entry);
    }
    if (isNewest) this.current = turn;
  }

  /** Returns the rows that look different by it. */
  append(entry: StoredEntry, isRow: boolean): string[] {
    const turn = (this.current = this.take(entry, this.current));
    const before = this.last.get(turn)?.id;
    if (isRow && !markTypes.has(entry.content.type)) this.row(turn, entry);
    const moved = isRow || isEntryOf(entry, 'file_changes') ? [before, this.last.get(turn)?.id] : [];
    const reviewed = isEntryOf(entry, 'file_changes') && entry.parent !== null ? [this.last.get(entry.parent)?.id] : [];
    return this.marks.size === 0 ? [] : [...new Set([...moved, ...reviewed].filter((id) => id !== undefined))];
  }

  /** What stands at a row; undefined: nothing. */
  at(id: string): RowMark['changes'] {
    for (const [turn, marks] of this.marks) {
      if (this.last.get(turn)?.id !== id) continue;
      const files = reviewedFiles([...marks.values()]);
      const uncovered = [...marks.values()].flatMap(({ content }) => content.uncovered ?? []);
      if (files.length === 0 && uncovered.length === 0) return undefined;
      return {
        ...(uncovered.length > 0 ? { uncovered: uncoveredList(uncovered) } : {}),
        text: changedText(files.map(({ edit }) => edit)),
        files: files.length,
        left: files.filter(isOpen).length,
        undone: files.filter(isUndone).length,
      };
    }
    return undefined;
  }

  private row(turn: string, { uuid: id, seq }: StoredEntry): void {
    if (seq > (this.last.get(turn)?.seq ?? -1)) this.last.set(turn, { id, seq });
  }

  /** Returns the turn of the entry. */
  private take(entry: StoredEntry, turn: string): string {
    if (isUserMessage(entry)) return entry.uuid;
    if (!isEntryOf(entry, 'file_changes') || entry.parent === null || entry.content.source === 'restore') return turn;
    const of = entry.content.source === 'review' ? entry.parent : turn;
    const known = this.marks.get(of) ?? new Map<string, FileMark>();
    this.marks.set(of, known.set(entry.uuid, { uuid: entry.uuid, seq: entry.seq, on: entry.parent, content: entry.content }));
    return turn;
  }
}
