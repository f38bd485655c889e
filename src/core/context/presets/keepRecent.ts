import type { PolicyInput } from '../policy';
import { balanced } from './balanced';

/** The session-management skill: above 20 messages or 75 % all but the last four become a summary; when that fails, all of it stays. */
export const keepRecent: PolicyInput = {
  name: 'keep-recent',
  window: { maxTokens: 0 },
  reserve: { safetyTokens: 2_000 },
  memoryFlush: { enabled: false, thresholds: balanced.memoryFlush.thresholds },
  showUsageToModel: false,
  checkpoint: { ...balanced.checkpoint, enabled: false },
  compaction: {
    enabled: true,
    trigger: { percent: 75, messages: 20 },
    atOrAbove: false,
    afterResponse: true,
    masking: { ...balanced.compaction.masking, enabled: false },
    whenFull: 'summarize',
    whenFails: 'keep',
    review: 'manual',
    keep: { messages: 4 },
    format: 'narrative',
    maxSummaryTokens: 500,
    placement: 'system-block',
    preferCheckpoint: false,
    minCheckpointCoverage: 50,
    retryOnOverflow: true,
    oversizedMessageFraction: 50,
  },
  summarizer: { ...balanced.summarizer },
};
