import { hunksOf, linesOf, textOf } from './mergeText';

/** Neighbouring lines that one text has in the place of those of another. */
export interface TextHunk {
  /** Lines of the old text, from `oldStart` on and without `oldEnd`, both counted from 0. */
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
  /** With their ends. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** From the first line to the last; null where either is no text, or too much has changed to be compared. */
export function textHunks(before: Uint8Array, after: Uint8Array): TextHunk[] | null {
  const [oldText, newText] = [textOf(before), textOf(after)];
  if (oldText === null || newText === null) return null;
  const [old, now] = [linesOf(oldText), linesOf(newText)];
  let shift = 0;
  return (
    hunksOf(old, now)?.map(({ start, end, lines }) => {
      const newStart = start + shift;
      shift += lines.length - (end - start);
      return { oldStart: start, oldEnd: end, newStart, newEnd: newStart + lines.length, removed: old.slice(start, end), added: lines };
    }) ?? null
  );
}

/** The old text with one hunk of the new one. */
export function withHunk(before: Uint8Array, { oldStart, oldEnd, added }: TextHunk): Uint8Array {
  return spliced(before, oldStart, oldEnd, added);
}

/** The new text without one of its hunks. */
export function withoutHunk(after: Uint8Array, { newStart, newEnd, removed }: TextHunk): Uint8Array {
  return spliced(after, newStart, newEnd, removed);
}

/**
 * Says where a line of a text stands in a later one: the line itself, or the first one in its place. Null where too much has changed to be
 * compared.
 */
export function laterLines(text: Uint8Array, later: Uint8Array): ((line: number) => number) | null {
  const hunks = textHunks(text, later);
  if (!hunks) return null;
  return (line) => {
    const before = hunks.filter(({ oldStart }) => oldStart <= line).at(-1);
    if (!before) return line;
    return line < before.oldEnd ? before.newStart : line + before.newEnd - before.oldEnd;
  };
}

function spliced(text: Uint8Array, start: number, end: number, lines: readonly string[]): Uint8Array {
  const all = linesOf(textOf(text) ?? '');
  return new TextEncoder().encode([...all.slice(0, start), ...lines, ...all.slice(end)].join(''));
}
