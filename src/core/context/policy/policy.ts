import * as z from 'zod/mini';

/** 1–100, or a fraction strictly below 1; stored as a fraction. 1 means one percent, never the whole. */
const percent = z.pipe(
  z.number().check(z.positive(), z.lte(100)),
  z.transform((value: number) => (value < 1 ? value : value / 100)),
);
const count = z.int().check(z.nonnegative());
const positiveCount = z.int().check(z.positive());

const nudgeThreshold = z.object({
  percent,
  /** What the model is asked; omitted: the built-in text for this position. */
  prompt: z.optional(z.string()),
  injectAs: z.enum(['system', 'user']),
  /** False: asked in every turn while the size is above it. */
  oncePerCycle: z._default(z.boolean(), true),
});

/** Any that fires; 0 or absent = not watched. */
const trigger = z
  .object({
    percent: z.optional(percent),
    /** Fires at the window's size minus this. */
    reserveTokens: z.optional(count),
    /** User messages, assistant steps and tool results that are sent verbatim. */
    messages: z.optional(count),
    tokens: z.optional(count),
  })
  .check(z.refine((value) => Object.values(value).some((one) => one !== undefined && one > 0), 'nothing that could fire'));

/** What stays verbatim. The first that is given, in this order, says how much; the others only bound it. */
const keep = z
  .object({
    messages: z.optional(positiveCount),
    percentOfMessages: z.optional(percent),
    userTurns: z.optional(positiveCount),
    /** The newest messages, until the context is smaller than this share of the window. */
    targetPercent: z.optional(percent),
    /** min(max, max(min, percent × window)) tokens; alone, the newest messages that fit it. */
    tokens: z.optional(z.object({ percent, min: count, max: count })),
    /** No fewer than these stay where `percentOfMessages` is given. */
    minMessages: z.optional(count),
  })
  .check(
    z.refine(
      ({ minMessages: _, ...variants }) => Object.values(variants).some((one) => one !== undefined),
      'nothing that says how much stays',
    ),
  );

/** Ollama runs on the user's machine, needs long for long texts, and does not say how much a model can read. */
const ollama = { url: 'http://localhost:11434', contextTokens: 131_072, timeoutSeconds: 600 };
const chainTimeoutSeconds = 120;

const chainEntry = z.pipe(
  z.object({
    /** `session`: whichever provider the conversation uses. */
    provider: z.string().check(z.minLength(1)),
    /** An id; `session`: the conversation's own model; `cheapest` and `best`: of those the provider offers. */
    model: z.string().check(z.minLength(1)),
    url: z.optional(z.string().check(z.regex(/^https?:\/\//i))),
    contextTokens: z.optional(positiveCount),
    timeoutSeconds: z.optional(z.number().check(z.positive())),
    /** The provider's own compaction writes it, with this model; an entry of a provider that has none is left out. */
    serverSide: z.optional(z.boolean()),
  }),
  z.transform((entry) => ({ timeoutSeconds: chainTimeoutSeconds, ...(entry.provider === 'ollama' ? ollama : {}), ...entry })),
);

export const summaryFormats = ['session-state', 'checkpoint', 'sections', 'narrative', 'research'] as const;
export const summaryPlacements = ['history-pair', 'system-message', 'system-block', 'first-message'] as const;

/** How a session's context is managed. Every preset is a value of this schema, never an engine of its own. */
export const Policy = z.object({
  name: z.string(),
  window: z.object({
    /** Cap on the window in tokens; 0 = the whole window. */
    maxTokens: count,
  }),
  reserve: z.object({
    /** Room for the answer; omitted: min(the model's largest answer, 8,192). */
    outputTokens: z.optional(positiveCount),
    safetyTokens: count,
  }),
  memoryFlush: z.object({ enabled: z.boolean(), thresholds: z.array(nudgeThreshold) }),
  /** Append to every turn how full the window is. */
  showUsageToModel: z.boolean(),
  /** Rolling snapshots, made in the background; they fold nothing. */
  checkpoint: z.object({
    enabled: z.boolean(),
    thresholds: z.array(percent),
    /** 0 = not by turns. */
    everyUserTurns: count,
    /** No checkpoint of a context smaller than this. */
    minTokens: count,
  }),
  compaction: z.object({
    /** Automatic compaction; the command always works. */
    enabled: z.boolean(),
    trigger,
    /** True: at the trigger (≥); false: only above it (>). */
    atOrAbove: z.boolean(),
    /** Look at the trigger when an answer is complete, too, and not only before the next request. */
    afterResponse: z.boolean(),
    /** Where the summary is begun in the background; omitted: not before it is needed. */
    prepareAtPercent: z.optional(percent),
    /** Rung 0: old tool results are left out in one batch. */
    masking: z.object({ enabled: z.boolean(), protectTokens: count, protectUserTurns: count, minGainTokens: count }),
    whenFull: z.enum(['summarize', 'truncate', 'ask']),
    /**
     * When no summariser works. `extract`: passages without a model; `truncate`: a stub, with `emergencyKeepPercent` of the messages;
     * `keep`: everything stays until the hard limit, and then the oldest gives way.
     */
    whenFails: z.enum(['extract', 'truncate', 'keep']),
    /**
     * When the provider's prompt cache has expired and as much as `coldLeastTokens` would be written to it again: fold with a summary that
     * was prepared while it was warm, leave that to the user, or send everything.
     */
    whenCold: z.enum(['fold', 'ask', 'keep']),
    coldLeastTokens: count,
    /** So many tokens of the newest messages stay verbatim then; the latest message always does. */
    coldKeepTokens: count,
    review: z.enum(['never', 'manual', 'always']),
    keep,
    format: z.enum(summaryFormats),
    maxSummaryTokens: positiveCount,
    placement: z.enum(summaryPlacements),
    /** Use a checkpoint that covers at least `minCheckpointCoverage` of what is to be folded, and summarise only the rest. */
    preferCheckpoint: z.boolean(),
    minCheckpointCoverage: percent,
    /** Above this nothing waits for a summary any more; omitted: the limit. Never below the trigger. */
    hardLimitPercent: z.optional(percent),
    /** Share of the messages that a truncation keeps where they fit; omitted: as many as fit. */
    emergencyKeepPercent: z.optional(percent),
    retryOnOverflow: z.boolean(),
    /** Share of the limit above which one message or tool result is sent, and given to a summariser, as head, tail and id. */
    oversizedMessageFraction: percent,
  }),
  summarizer: z.object({
    /** Tried in this order. */
    chain: z.array(chainEntry).check(z.minLength(1)),
    /** After this many failures in a row the next entry is tried first … */
    failureThreshold: positiveCount,
    /** … until this much time has passed. */
    resetMinutes: z.number().check(z.positive()),
    /** Between attempts at a summary that a rung without a model had to stand in for. */
    retryIntervalSeconds: z.number().check(z.positive()),
  }),
});
export type Policy = z.infer<typeof Policy>;
export type PolicyInput = z.input<typeof Policy>;
export type Keep = Policy['compaction']['keep'];
export type SummaryFormat = Policy['compaction']['format'];
export type SummaryPlacement = Policy['compaction']['placement'];
export type SummarizerEntry = Policy['summarizer']['chain'][number];
