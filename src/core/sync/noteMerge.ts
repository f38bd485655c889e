import { diffArrays } from 'diff';
import { hunksOf, linesOf, type Hunk } from '../rewind/mergeText';

/** What both sides have said of the same lines. */
export interface MergedNote {
  /** Null: the note is deleted. */
  readonly text: string | null;
  /** Places where both had written something else, and both are kept. */
  readonly both: number;
}

/**
 * Merges two texts that come from `base`. A note is read by people and models, so nothing is marked in it: where both have changed the same
 * lines, the lines of both stay, `ours` first and what they share once. Who changes a note wins over who deletes it.
 */
export function mergeNote(base: string | null, ours: string | null, theirs: string | null): MergedNote {
  if (ours === theirs || theirs === base) return { text: ours, both: 0 };
  if (ours === base) return { text: theirs, both: 0 };
  if (ours === null || theirs === null) return { text: ours ?? theirs, both: 0 };
  const lines = [base ?? '', ours, theirs].map(linesOf);
  const [from, left, right] = lines as [string[], string[], string[]];
  const [a, b] = [hunksOf(from, left), hunksOf(from, right)];
  if (!a || !b) return { text: bothOf(left, right).join(''), both: 1 };
  const { lines: merged, both } = mergeHunks(from, a, b);
  return { text: onceEach(merged, from, left, right).join(''), both };
}

function mergeHunks(
  base: readonly string[],
  left: readonly Hunk[],
  right: readonly Hunk[],
): { readonly lines: readonly string[]; readonly both: number } {
  const merged: string[] = [];
  let both = 0;
  let at = 0;
  let [l, r] = [0, 0];
  while (l < left.length || r < right.length) {
    const [a, b] = [left[l], right[r]];
    const first = a && (!b || a.start <= b.start) ? a : b!;
    const [fromLeft, fromRight] = [l, r];
    const { start } = first;
    let { end } = first;
    const meets = (hunk: Hunk | undefined) => hunk !== undefined && (hunk.start < end || hunk.start === start);
    for (;;) {
      if (meets(left[l])) end = Math.max(end, left[l++]!.end);
      else if (meets(right[r])) end = Math.max(end, right[r++]!.end);
      else break;
    }
    const ours = applied(base, start, end, left.slice(fromLeft, l));
    const theirs = applied(base, start, end, right.slice(fromRight, r));
    merged.push(...base.slice(at, start));
    if (r === fromRight || ours.join('') === theirs.join('')) merged.push(...ours);
    else if (l === fromLeft) merged.push(...theirs);
    else {
      both++;
      merged.push(...bothOf(ours, theirs));
    }
    at = end;
  }
  return { lines: [...merged, ...base.slice(at)], both };
}

/**
 * A line that one side has moved, or that merging before has put elsewhere, would stand in both places, and no side has it twice: it stays
 * in the first. Lines without words (the fence of a block) are told apart by their places alone.
 */
function onceEach(merged: readonly string[], ...sources: readonly (readonly string[])[]): readonly string[] {
  const counts = sources.map(countsOf);
  const surplus = new Set(
    [...countsOf(merged)].flatMap(([line, count]) =>
      count > 1 && /[\p{L}\p{N}]/u.test(line) && counts.every((source) => (source.get(line) ?? 0) <= 1) ? [line] : [],
    ),
  );
  if (surplus.size === 0) return merged;
  const seen = new Set<string>();
  return merged.filter((line) => !surplus.has(line) || (!seen.has(line) && seen.add(line)));
}

function countsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Lines `start` to `end` of the base as one side has them. */
function applied(base: readonly string[], start: number, end: number, hunks: readonly Hunk[]): string[] {
  const lines: string[] = [];
  let at = start;
  for (const hunk of hunks) {
    lines.push(...base.slice(at, hunk.start), ...hunk.lines);
    at = hunk.end;
  }
  return [...lines, ...base.slice(at, end)];
}

/** The lines of both, those they share once. A last line without an end gets one where another follows. */
function bothOf(ours: readonly string[], theirs: readonly string[]): string[] {
  const [a, b] = [ours.map(ended), theirs.map(ended)];
  const lines = diffArrays(a, b).flatMap(({ value }) => value);
  const isOpen = lines.at(-1) !== undefined && ![ours.at(-1), theirs.at(-1)].some((last) => last === lines.at(-1));
  if (isOpen) lines.push(lines.pop()!.replace(/\n$/, ''));
  return lines;
}

function ended(line: string): string {
  return line.endsWith('\n') ? line : `${line}\n`;
}
