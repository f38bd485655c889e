import type { BranchState } from '../chat/branchState';
import type { ContextEngine } from '../context/engine';

/** A provider keeps a prompt at most this long after it was sent (Anthropic: 5 minutes). */
const cachedMs = 5 * 60_000;

/** Dollars that the next request of a conversation takes before anything is answered; null where no price is known. */
export function leastCost(branch: BranchState, engine: ContextEngine, now: number): number | null {
  const { used, anchored } = engine.measure();
  const { provider, id } = engine.binding.info;
  const { lastUsage } = branch;
  const isCached = anchored && lastUsage?.kind === 'turn' && now - lastUsage.at < cachedMs;
  const cacheRead = isCached ? Math.min(used, lastUsage.input + lastUsage.cacheRead + lastUsage.cacheWrite) : 0;
  return branch.costOf(provider, id, { input: used - cacheRead, output: 0, cacheRead, cacheWrite: 0 });
}
