import { unknownCache, type ContextSnapshot } from '../../../src/core/context/measure/snapshot';

/** A context of 84,100 tokens in a window of 200,000, with nothing due yet. */
export function contextSnapshot(over: Partial<ContextSnapshot> = {}): ContextSnapshot {
  return {
    sessionId: 's',
    branchLeafId: null,
    model: 'anthropic/claude-x',
    policy: 'balanced',
    window: 200_000,
    effective: 200_000,
    reserve: 10_000,
    limit: 190_000,
    used: 84_100,
    provenance: 'exact',
    segments: [
      { kind: 'system', tokens: 1_200 },
      { kind: 'tools', tokens: 0 },
      { kind: 'history', tokens: 82_900 },
    ],
    thresholds: [
      { kind: 'nudge', percent: 50, tokens: 100_000, state: 'ahead' },
      { kind: 'nudge', percent: 75, tokens: 150_000, state: 'ahead' },
      { kind: 'compaction', percent: 85, tokens: 170_000, state: 'ahead' },
      { kind: 'limit', percent: 95, tokens: 190_000, state: 'ahead' },
    ],
    nextEvent: { kind: 'nudge', inTokens: 15_900 },
    turnsLeft: 9,
    compactions: 0,
    cache: unknownCache,
    summarizing: false,
    updatedAt: 0,
    ...over,
  };
}
