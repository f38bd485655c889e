import type { PlacedHit } from './elsewhere';

export interface Chosen {
  /** In the order of the hits, each text once. */
  readonly hits: readonly PlacedHit[];
  /** What there was no room for, best first, each entry once. */
  readonly left: readonly PlacedHit[];
}

/** What a hit costs, in tokens. */
export interface HitCost {
  /** Without the frame that it shares. */
  readonly own: number;
  /** Hits with the same one stand in one frame; null: it has one of its own, which `own` includes. */
  readonly shares: string | null;
  /** What the first in a shared frame costs beside its own. */
  readonly frame: number;
}

/** Names of entries that are told when there is no room for them. */
const mostNamed = 12;

/**
 * Chooses what to show of the best passages within a budget: whole ones while they fit, each with the match that it stands beside, and
 * where a long one does not fit, the shorter ones after it. To stop at the first that does not fit costs a tenth of the evidence at
 * 1,000 tokens.
 */
export function withinTokens(hits: readonly PlacedHit[], budget: number, cost: (hit: PlacedHit) => HitCost): Chosen {
  const chosen = new Set<PlacedHit>();
  const frames = new Set<string>();
  const left: PlacedHit[] = [];
  let used = 0;
  const priceOf = (hit: PlacedHit) => {
    const { own, shares, frame } = cost(hit);
    return own + (shares === null || frames.has(shares) ? 0 : frame);
  };
  const take = (hit: PlacedHit) => {
    chosen.add(hit);
    used += priceOf(hit);
    const { shares } = cost(hit);
    if (shares !== null) frames.add(shares);
  };
  for (const hit of hits) {
    if (chosen.has(hit)) continue;
    const carrier =
      hit.beside === null
        ? undefined
        : hits.find((other) => other.seq === hit.beside && other.workspace === hit.workspace && !chosen.has(other));
    const needed = priceOf(hit) + (carrier ? priceOf(carrier) : 0);
    if (used + needed > budget && chosen.size > 0) {
      if (left.length < mostNamed && !left.some(({ entry }) => entry === hit.entry)) left.push(hit);
      continue;
    }
    if (carrier) take(carrier);
    take(hit);
  }
  return { hits: hits.filter((hit) => chosen.has(hit)), left };
}
