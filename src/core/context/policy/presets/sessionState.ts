import type { PolicyInput } from '../policy';
import { foldsOnly } from './foldsOnly';
import { goose } from './goose';

/** Structured state compression: above 70 % the oldest messages become a state, merged over time, until less than 60 % is left. */
export const sessionState: PolicyInput = {
  ...foldsOnly,
  name: 'session-state',
  window: { maxTokens: 0 },
  compaction: {
    ...foldsOnly.compaction,
    trigger: { percent: 70 },
    atOrAbove: false,
    afterResponse: false,
    whenFails: 'keep',
    keep: { targetPercent: 60 },
    format: 'session-state',
    maxSummaryTokens: 800,
    placement: 'history-pair',
    hardLimitPercent: 85,
    oversizedMessageFraction: 25,
  },
  summarizer: goose.summarizer,
};
