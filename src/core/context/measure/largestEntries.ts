import type { Measurement } from './measure';
import type { Projection } from '../projection/projection';
import type { SegmentKind } from './snapshot';

/** What an entry takes of the prompt. */
export interface EntrySize {
  readonly entry: string;
  readonly segment: SegmentKind;
  /** The scale is that of `ContextSnapshot.used`. */
  readonly tokens: number;
}

/** The entries that take most of the prompt, the largest first; an entry that is sent in several blocks is one. */
export function largestEntries({ pieces }: Projection, { scale }: Measurement, limit: number): EntrySize[] {
  const sizes = new Map<string, { segment: SegmentKind; tokens: number }>();
  for (const { entryId, segment, tokens } of pieces) {
    if (entryId === null) continue;
    const known = sizes.get(entryId);
    if (known) known.tokens += tokens;
    else sizes.set(entryId, { segment, tokens });
  }
  return [...sizes]
    .sort(([, a], [, b]) => b.tokens - a.tokens)
    .slice(0, limit)
    .map(([entry, { segment, tokens }]) => ({ entry, segment, tokens: Math.round(tokens * scale) }));
}
