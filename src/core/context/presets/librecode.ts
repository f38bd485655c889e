import type { PolicyInput } from '../policy';
import { balanced } from './balanced';

/** librecode: at 80 % all but the last 40 messages become a first message of sections; an overflow compacts and retries once. */
export const librecode: PolicyInput = {
  name: 'librecode',
  window: { maxTokens: 0 },
  reserve: { safetyTokens: 2_000 },
  memoryFlush: { enabled: false, thresholds: balanced.memoryFlush.thresholds },
  showUsageToModel: false,
  checkpoint: { ...balanced.checkpoint, enabled: false },
  compaction: {
    enabled: true,
    trigger: { percent: 80 },
    atOrAbove: true,
    afterResponse: false,
    masking: { ...balanced.compaction.masking, enabled: false },
    whenFull: 'summarize',
    whenFails: 'extract',
    review: 'manual',
    keep: { messages: 40 },
    format: 'sections',
    maxSummaryTokens: 4_000,
    placement: 'first-message',
    preferCheckpoint: false,
    minCheckpointCoverage: 50,
    retryOnOverflow: true,
    oversizedMessageFraction: 25,
  },
  summarizer: { ...balanced.summarizer },
};
