import type { PolicyInput } from '../policy';
import { balanced } from './balanced';
import { foldsOnly } from './foldsOnly';

/** The session-management skill: above 20 messages or 75 % all but the last four become a summary; when that fails, all of it stays. */
export const keepRecent: PolicyInput = {
  ...foldsOnly,
  name: 'keep-recent',
  window: { maxTokens: 0 },
  compaction: {
    ...foldsOnly.compaction,
    trigger: { percent: 75, messages: 20 },
    atOrAbove: false,
    afterResponse: true,
    whenFails: 'keep',
    keep: { messages: 4 },
    format: 'narrative',
    maxSummaryTokens: 500,
    placement: 'system-block',
    oversizedMessageFraction: 50,
  },
  summarizer: { ...balanced.summarizer },
};
