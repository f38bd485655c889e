import { diffArrays } from 'diff';

/** For each line of the later text, the line of the earlier one that it is; -1: none. */
export type Alignment = readonly number[];

/**
 * Two ways in which a text can have become another: what is new stands as far down as it can in the one, as far up in the other. A block
 * between equal lines can be said to begin with the one or to end with the other: what both ways say is known, all else is not. Null where
 * more than `most` lines have changed.
 */
export function alignments(before: readonly string[], after: readonly string[], most: number): readonly [Alignment, Alignment] | null {
  const down = alignment(before, after, most);
  const up = down && alignment([...before].reverse(), [...after].reverse(), most);
  return up && [down, up.map((at) => (at < 0 ? at : before.length - 1 - at)).reverse()];
}

function alignment(before: readonly string[], after: readonly string[], most: number): number[] | null {
  const parts = diffArrays([...before], [...after], { maxEditLength: most });
  if (!parts) return null;
  const places: number[] = [];
  let old = 0;
  for (const { added, removed, count } of parts) {
    for (let i = 0; i < count && !removed; i++) places.push(added ? -1 : old + i);
    if (!added) old += count;
  }
  return places;
}
