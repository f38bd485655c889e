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
  showUsageToModel: false,
  checkpoint: { enabled: true, thresholds: [25, 50, 75], everyUserTurns: 10, minTokens: 5_000 },
  compaction: {
    enabled: true,
    trigger: { percent: 85 },
    atOrAbove: true,
    afterResponse: false,
    prepareAtPercent: 78,
    masking: { enabled: true, protectTokens: 40_000, protectUserTurns: 2, minGainTokens: 20_000 },
    whenFull: 'summarize',
    whenFails: 'extract',
    review: 'manual',
    keep: { userTurns: 2, tokens: { percent: 25, min: 2_000, max: 20_000 } },
    format: 'session-state',
    maxSummaryTokens: 4_000,
    placement: 'history-pair',
    preferCheckpoint: true,
    minCheckpointCoverage: 50,
    hardLimitPercent: 97,
    retryOnOverflow: true,
    oversizedMessageFraction: 25,
  },
  summarizer: { chain: [{ provider: 'session', model: 'session' }], failureThreshold: 3, resetMinutes: 30, retryIntervalSeconds: 60 },
};
