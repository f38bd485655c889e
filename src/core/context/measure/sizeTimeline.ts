import type { BranchStep } from '../../branches/branch';
import { contextExclusionOf } from '../contextExclusion';
import { isEntryOf, kindsWhere, type StoredEntry } from '../../session/entry';

export interface SizePoint {
  /** Entries of the branch up to here. */
  readonly position: number;
  readonly at: number;
  readonly tokens: number;
  /** Reported by the provider, as opposed to reckoned from our own counts. */
  readonly measured: boolean;
}

export interface SizeMark {
  readonly kind: 'compaction' | 'undo' | 'checkpoint' | 'exclusion';
  readonly entry: string;
  readonly position: number;
  readonly at: number;
  /** Size of the context there; after a compaction, what is left of it. */
  readonly tokens: number;
}

export interface SizeTimeline {
  readonly points: readonly SizePoint[];
  readonly marks: readonly SizeMark[];
}

export interface TimelineScale {
  /** Tokens of the prompt in front of the messages. */
  readonly fixed: number;
  /** Calibrated tokens of one of our own. */
  readonly factor: number;
}

/** Entry types whose content says how large the context was. */
export const sizedTypes = kindsWhere(({ tellsSize }) => tellsSize);

/**
 * How large the context was along a branch. Wherever the provider has reported a size, that is it; in between it grows by our own
 * counts. `sized` are the entries of `sizedTypes`, which say what a compaction, its undo or an exclusion made of it.
 */
export function sizeTimeline(steps: readonly BranchStep[], sized: readonly StoredEntry[], { fixed, factor }: TimelineScale): SizeTimeline {
  const contents = new Map(sized.map((entry) => [entry.uuid, entry]));
  const points: SizePoint[] = [];
  const marks: SizeMark[] = [];
  let size = fixed;
  let position = 0;
  for (const { entry, type, at, modelFacing, tokens, measured } of steps) {
    if (!sizedTypes.has(type)) position++;
    const stored = contents.get(entry);
    const exclusion = stored ? contextExclusionOf(stored) : null;
    const point = (isMeasured: boolean) => points.push({ position, at, tokens: Math.round(size), measured: isMeasured });
    const mark = (kind: SizeMark['kind']) => marks.push({ kind, entry, position, at, tokens: Math.round(size) });
    if (stored && isEntryOf(stored, 'compaction')) {
      size = stored.content.tokensAfter;
      point(false);
      mark('compaction');
    } else if (stored && isEntryOf(stored, 'compaction_undone')) {
      size = stored.content.tokensRestored;
      point(false);
      mark('undo');
    } else if (exclusion) {
      size = exclusion.tokensAfter;
      point(false);
      if (exclusion.excluded) mark('exclusion');
    } else if (type === 'checkpoint') {
      mark('checkpoint');
    } else if (measured !== null) {
      size = measured;
      point(true);
    } else if (modelFacing) {
      size += (tokens ?? 0) * factor;
      point(false);
    }
  }
  return { points, marks };
}

/** Leaves about `most` points with the same highs and lows: the smallest and the largest of each stretch stay. */
export function thinned(points: readonly SizePoint[], most: number): readonly SizePoint[] {
  if (points.length <= most) return points;
  const stretch = Math.ceil((points.length - 2) / Math.max(1, Math.floor((most - 2) / 2)));
  const kept: SizePoint[] = [points[0]!];
  for (let from = 1; from < points.length - 1; from += stretch) {
    const part = points.slice(from, Math.min(from + stretch, points.length - 1));
    const low = part.reduce((a, b) => (b.tokens < a.tokens ? b : a));
    const high = part.reduce((a, b) => (b.tokens > a.tokens ? b : a));
    kept.push(
      ...(low === high
        ? [low]
        : low.position < high.position || (low.position === high.position && part.indexOf(low) < part.indexOf(high))
          ? [low, high]
          : [high, low]),
    );
  }
  kept.push(points.at(-1)!);
  return kept;
}
