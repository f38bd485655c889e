import { fileKey, isSameVersion, type FileEdit, type FileVersion } from './fileChanges';
import type { FileMark } from './fileHistory';

/** A file that a turn has changed. Where it says what is left, a hunk that was kept is in both sides, one that was undone in neither. */
export interface ReviewedFile {
  /** What the calls of the turn have made of it together. */
  readonly edit: FileEdit;
  /** What is left to be reviewed; two equal sides: nothing is. */
  readonly before: FileVersion | null;
  readonly after: FileVersion | null;
  /** What each call has made of it, while nothing of that was reviewed: what lies between them is somebody else's. Else empty. */
  readonly calls: readonly FileEdit[];
}

/** What the calls of a range of marks have done together: each file once, as it was before the first and after the last. */
export function summedEdits(marks: readonly FileMark[]): FileEdit[] {
  const sums = new Map<string, FileEdit>();
  for (const { content } of marks)
    for (const edit of content.files) {
      const known = sums.get(fileKey(edit));
      const lines =
        known?.lines && edit.lines
          ? { added: known.lines.added + edit.lines.added, removed: known.lines.removed + edit.lines.removed }
          : edit.lines;
      const { lines: _, ...bare } = edit;
      sums.set(fileKey(edit), { ...bare, before: known ? known.before : edit.before, ...(lines ? { lines } : {}) });
    }
  return [...sums.values()].filter(({ before, after }) => !isSameVersion(before, after));
}

/** `marks` of one turn: those of its calls, and the reviews that hang on the message which began it. */
export function reviewedFiles(marks: readonly FileMark[]): ReviewedFile[] {
  const inOrder = [...marks].sort((a, b) => a.seq - b.seq);
  const left = new Map<string, { readonly before: FileVersion | null; readonly after: FileVersion | null }>();
  for (const { content } of inOrder) {
    for (const edit of content.files) {
      const known = left.get(fileKey(edit));
      if (content.source === 'review') left.set(fileKey(edit), edit);
      else if (content.source === 'tool') left.set(fileKey(edit), { before: known ? known.before : edit.before, after: edit.after });
    }
  }
  return summedEdits(inOrder.filter(({ content }) => content.source === 'tool')).map((edit) => {
    const { before, after } = left.get(fileKey(edit)) ?? edit;
    const all = inOrder.flatMap(({ content }) =>
      content.files.filter((one) => fileKey(one) === fileKey(edit)).map((one) => ({ one, content })),
    );
    const isReviewed = all.some(({ content }) => content.source === 'review');
    const calls = isReviewed ? [] : all.flatMap(({ one, content }) => (content.source === 'tool' ? [one] : []));
    return { edit, before, after, calls };
  });
}

export function isOpen({ before, after }: ReviewedFile): boolean {
  return !isSameVersion(before, after);
}

/** Nothing is left of it because it was taken back. */
export function isUndone(file: ReviewedFile): boolean {
  return !isOpen(file) && isSameVersion(file.after, file.edit.before);
}
