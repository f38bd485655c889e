import type { PolicyInput } from '../policy';
import { balanced } from './balanced';

/** What the patterns without notes and checkpoints share: they fold, and do nothing else. No preset by itself. */
export const foldsOnly = {
  reserve: { safetyTokens: 2_000 },
  memoryFlush: { ...balanced.memoryFlush, enabled: false },
  showUsageToModel: false,
  checkpoint: { ...balanced.checkpoint, enabled: false },
  compaction: {
    enabled: true,
    masking: { ...balanced.compaction.masking, enabled: false },
    whenFull: 'summarize',
    review: 'manual',
    preferCheckpoint: false,
    minCheckpointCoverage: 50,
    retryOnOverflow: true,
  },
} satisfies Partial<Omit<PolicyInput, 'compaction'>> & { readonly compaction: Partial<PolicyInput['compaction']> };
