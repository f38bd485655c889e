import type { PolicyInput } from '../policy';
import { balanced } from './balanced';

/** GoClaw: notes at half and three quarters, rolling checkpoints, compaction 4,000 tokens before the window is full or at 500 messages. */
export const goclaw: PolicyInput = {
  name: 'goclaw',
  window: { maxTokens: 200_000 },
  reserve: { safetyTokens: 2_000 },
  memoryFlush: {
    enabled: true,
    thresholds: [
      {
        percent: 50,
        prompt: 'Half of the context window is in use. If decisions have been made, note the important ones in memory.',
        injectAs: 'system',
        oncePerCycle: true,
      },
      {
        percent: 75,
        prompt: 'Three quarters of the context window are in use. Write what matters from this conversation to memory now.',
        injectAs: 'user',
        oncePerCycle: true,
      },
    ],
  },
  showUsageToModel: true,
  checkpoint: { enabled: true, thresholds: [25, 50, 75], everyUserTurns: 10, minTokens: 5_000 },
  compaction: {
    enabled: true,
    trigger: { reserveTokens: 4_000, messages: 500 },
    atOrAbove: true,
    afterResponse: false,
    masking: { ...balanced.compaction.masking, enabled: false },
    whenFull: 'summarize',
    whenFails: 'truncate',
    review: 'manual',
    keep: { percentOfMessages: 50, minMessages: 20 },
    format: 'checkpoint',
    maxSummaryTokens: 2_000,
    placement: 'system-block',
    preferCheckpoint: true,
    minCheckpointCoverage: 50,
    emergencyKeepPercent: 75,
    retryOnOverflow: true,
    oversizedMessageFraction: 25,
  },
  summarizer: {
    chain: [
      { provider: 'session', model: 'cheapest' },
      { provider: 'session', model: 'session' },
    ],
    failureThreshold: 3,
    resetMinutes: 30,
    retryIntervalSeconds: 60,
  },
};
