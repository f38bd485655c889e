import type { PolicyInput } from '../policy';
import { balanced } from './balanced';
import { goose } from './goose';

/** Structured state compression: above 70 % the oldest messages become a state, merged over time, until less than 60 % is left. */
export const sessionState: PolicyInput = {
  name: 'session-state',
  window: { maxTokens: 0 },
  reserve: { safetyTokens: 2_000 },
  memoryFlush: { enabled: false, thresholds: balanced.memoryFlush.thresholds },
  showUsageToModel: false,
  checkpoint: { ...balanced.checkpoint, enabled: false },
  compaction: {
    enabled: true,
    trigger: { percent: 70 },
    atOrAbove: false,
    afterResponse: false,
    masking: { ...balanced.compaction.masking, enabled: false },
    whenFull: 'summarize',
    whenFails: 'keep',
    review: 'manual',
    keep: { targetPercent: 60 },
    format: 'session-state',
    maxSummaryTokens: 800,
    placement: 'history-pair',
    preferCheckpoint: false,
    minCheckpointCoverage: 50,
    hardLimitPercent: 85,
    retryOnOverflow: true,
    oversizedMessageFraction: 25,
  },
  summarizer: goose.summarizer,
};
