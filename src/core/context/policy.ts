import * as z from 'zod/mini';

/** 1–100, or a fraction strictly below 1; stored as a fraction. 1 means one percent, never the whole. */
const percent = z.pipe(
  z.number().check(z.positive(), z.lte(100)),
  z.transform((value: number) => (value < 1 ? value : value / 100)),
);

const nudgeThreshold = z.object({
  percent,
  /** What the model is asked; omitted: the built-in text for this position. */
  prompt: z.optional(z.string()),
  injectAs: z.enum(['system', 'user']),
});

/** How a session's context is managed. Every preset is a value of this schema, never an engine of its own. */
export const Policy = z.object({
  name: z.string(),
  window: z.object({
    /** Cap on the window in tokens; 0 = the whole window. */
    maxTokens: z.int().check(z.nonnegative()),
  }),
  reserve: z.object({
    /** Room for the answer; omitted: min(the model's largest answer, 8,192). */
    outputTokens: z.optional(z.int().check(z.positive())),
    safetyTokens: z.int().check(z.nonnegative()),
  }),
  memoryFlush: z.object({ enabled: z.boolean(), thresholds: z.array(nudgeThreshold) }),
  compaction: z.object({
    /** Automatic compaction; the command always works. */
    enabled: z.boolean(),
    trigger: z.object({ percent }),
    keep: z.object({
      userTurns: z.int().check(z.positive()),
      tokens: z.object({ percent, min: z.int(), max: z.int() }),
    }),
    format: z.literal('session-state'),
    placement: z.literal('history-pair'),
    maxSummaryTokens: z.int().check(z.positive()),
    /** Share of the limit above which one message or tool result is projected as head + tail. */
    oversizedMessageFraction: percent,
    retryOnOverflow: z.boolean(),
  }),
});
export type Policy = z.infer<typeof Policy>;
export type PolicyInput = z.input<typeof Policy>;
