import type { PolicyInput } from '../policy';
import { balanced } from './balanced';
import { foldsOnly } from './foldsOnly';

const cheapest = { provider: 'session', model: 'cheapest' };
const own = { provider: 'session', model: 'session' };

/** The Goose pattern: at 80 % of a 128k window everything but the last five messages becomes a few sentences by a cheap model. */
export const goose: PolicyInput = {
  ...foldsOnly,
  name: 'goose',
  window: { maxTokens: 128_000 },
  compaction: {
    ...foldsOnly.compaction,
    trigger: { percent: 80 },
    atOrAbove: true,
    afterResponse: false,
    whenFails: 'extract',
    keep: { messages: 5 },
    format: 'narrative',
    maxSummaryTokens: 200,
    placement: 'system-message',
    oversizedMessageFraction: 25,
  },
  summarizer: { ...balanced.summarizer, chain: [cheapest, own] },
};

/** Folds later, keeps more and lets the best model write: fewer compactions, better summaries, higher cost. */
export const gooseConservative: PolicyInput = {
  ...goose,
  name: 'goose-conservative',
  compaction: { ...goose.compaction, trigger: { percent: 90 }, keep: { messages: 10 } },
  summarizer: { ...goose.summarizer, chain: [{ provider: 'session', model: 'best' }, own] },
};

/** Folds early and keeps three messages: the smallest prompts and the lowest cost. */
export const gooseAggressive: PolicyInput = {
  ...goose,
  name: 'goose-aggressive',
  compaction: { ...goose.compaction, trigger: { percent: 70 }, keep: { messages: 3 } },
};
