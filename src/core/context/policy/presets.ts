import type { PolicyInput } from './policy';

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
    prepareAtPercent: 84,
    // With two turns, 150 turns that read files cost 3.2M units instead of 2.9M: what is masked was told in a summary, and is in reach.
    masking: { enabled: true, protectTokens: 4_000, protectUserTurns: 1, minGainTokens: 20_000 },
    whenFull: 'summarize',
    whenFails: 'extract',
    whenCold: 'fold',
    coldLeastTokens: 14_000,
    coldKeepTokens: 4_000,
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

/** The seeds know of no prompt cache: nothing is folded on its account. */
const sendsCold = {
  whenCold: 'keep',
  coldLeastTokens: balanced.compaction.coldLeastTokens,
  coldKeepTokens: balanced.compaction.coldKeepTokens,
} satisfies Partial<PolicyInput['compaction']>;

/** What the patterns without notes and checkpoints share: they fold, and do nothing else. No preset by itself. */
const foldsOnly = {
  reserve: { safetyTokens: 2_000 },
  memoryFlush: { ...balanced.memoryFlush, enabled: false },
  showUsageToModel: false,
  checkpoint: { ...balanced.checkpoint, enabled: false },
  compaction: {
    enabled: true,
    masking: { ...balanced.compaction.masking, enabled: false },
    whenFull: 'summarize',
    ...sendsCold,
    review: 'manual',
    preferCheckpoint: false,
    minCheckpointCoverage: 50,
    retryOnOverflow: true,
  },
} satisfies Partial<Omit<PolicyInput, 'compaction'>> & { readonly compaction: Partial<PolicyInput['compaction']> };

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
    ...sendsCold,
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
