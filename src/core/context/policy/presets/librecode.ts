import type { PolicyInput } from '../policy';
import { balanced } from './balanced';
import { foldsOnly } from './foldsOnly';

/** librecode: at 80 % all but the last 40 messages become a first message of sections; an overflow compacts and retries once. */
export const librecode: PolicyInput = {
  ...foldsOnly,
  name: 'librecode',
  window: { maxTokens: 0 },
  compaction: {
    ...foldsOnly.compaction,
    trigger: { percent: 80 },
    atOrAbove: true,
    afterResponse: false,
    whenFails: 'extract',
    keep: { messages: 40 },
    format: 'sections',
    maxSummaryTokens: 4_000,
    placement: 'first-message',
    oversizedMessageFraction: 25,
  },
  summarizer: { ...balanced.summarizer },
};
