import type { PolicyInput } from '../policy';

/** The default: notes at half and three quarters, compaction at 85 %, the last two user turns verbatim. */
export const balanced: PolicyInput = {
  name: 'balanced',
  window: { maxTokens: 200_000 },
  reserve: { safetyTokens: 2_000 },
  memoryFlush: {
    enabled: true,
    thresholds: [
      { percent: 50, injectAs: 'system' },
      { percent: 75, injectAs: 'user' },
    ],
  },
  compaction: {
    enabled: true,
    trigger: { percent: 85 },
    keep: { userTurns: 2, tokens: { percent: 25, min: 2_000, max: 20_000 } },
    format: 'session-state',
    placement: 'history-pair',
    maxSummaryTokens: 4_000,
    oversizedMessageFraction: 25,
    retryOnOverflow: true,
  },
};
