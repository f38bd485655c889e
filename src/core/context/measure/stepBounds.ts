import type { StoredEntry } from '../../session/entry';

/** All results of one step together may take so many times the bound on a single entry. They go in one message, and none can be sent later. */
const stepShare = 1.5;

/**
 * Results that have to be shorter than any entry may be, because the calls of one step (eight files read at once) have returned more
 * together than a message can hold: by entry, in tokens. The short ones stay whole, the long ones share what is left. Depends on the
 * step alone, so that the prompt of the next turn keeps it as its prefix.
 */
export function stepBounds(
  entries: readonly StoredEntry[],
  tokensOf: (entry: StoredEntry) => number,
  oversized: number,
): ReadonlyMap<string, number> {
  const bounds = new Map<string, number>();
  let step: StoredEntry[] = [];
  const close = () => {
    const bound = fairBound(
      step.map((entry) => Math.min(tokensOf(entry), oversized, shownOf(entry))),
      stepShare * oversized,
    );
    if (bound !== null) for (const { uuid } of step) bounds.set(uuid, bound);
    step = [];
  };
  for (const entry of entries) {
    if (!entry.modelFacing) continue;
    if (entry.content.type === 'tool_result') step.push(entry);
    else if (step.length > 0) close();
  }
  close();
  return bounds;
}

function shownOf({ content }: StoredEntry): number {
  return content.type === 'tool_result' ? (content.shownTokens ?? Infinity) : Infinity;
}

/** Under which all of them together fit; null when they do anyway. */
function fairBound(sizes: readonly number[], room: number): number | null {
  let left = room;
  for (const [index, size] of [...sizes].sort((a, b) => a - b).entries()) {
    const share = left / (sizes.length - index);
    if (size > share) return Math.floor(share);
    left -= size;
  }
  return null;
}
