import * as z from 'zod/mini';

const cost = z.object({
  /** The requests whose price is known cost so many US dollars. */
  usd: z.number(),
  requestsWithoutCost: z.number(),
  /** The provider has not said how many tokens these requests took: they are estimated, and their cost with them. */
  requestsEstimated: z.number(),
});

const spent = {
  requests: z.number(),
  /** All that the requests sent and received: input, cached or not, and output. */
  tokens: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cost,
};

/** Everything that the analytics show, for a range of days in the user's zone. */
export const AnalyticsReport = z.object({
  /** `YYYY-MM-DD`, both included. */
  from: z.string(),
  to: z.string(),
  totals: z.object({ sessionsCreated: z.number(), sessionsActive: z.number(), messages: z.number(), ...spent }),
  /** Every day of the range, also those on which nothing happened. */
  days: z.array(z.object({ day: z.string(), sessionsCreated: z.number(), sessionsActive: z.number(), messages: z.number(), ...spent })),
  /** Sessions in which the most was said come first, by the tokens of what was said; what it was billed stands beside it. */
  sessions: z.array(
    z.object({
      uuid: z.string(),
      id: z.string(),
      title: z.string(),
      cwd: z.nullable(z.string()),
      tags: z.array(z.string()),
      createdAt: z.number(),
      messages: z.number(),
      /** Our tokenizer has counted what was said in the range. */
      contentTokens: z.number(),
      ...spent,
    }),
  ),
  /** Sessions of the range that are not listed. */
  moreSessions: z.number(),
  models: z.array(z.object({ provider: z.string(), model: z.string(), input: z.number(), cacheWrite: z.number(), ...spent })),
  compactions: z.object({
    count: z.number(),
    undone: z.number(),
    /** Compactions that were undone do not count. */
    tokensBefore: z.number(),
    tokensAfter: z.number(),
    savedTokens: z.number(),
    /** All the time spent on making summaries, and how much of it a turn had to wait. */
    durationMs: z.number(),
    heldMs: z.number(),
    cost,
    byRung: z.array(z.object({ rung: z.string(), count: z.number(), savedTokens: z.number() })),
  }),
  nudges: z.object({
    delivered: z.number(),
    acted: z.number(),
    byPercent: z.array(z.object({ percent: z.number(), delivered: z.number(), acted: z.number() })),
  }),
  /** What the range can be filtered by, whatever it is filtered by now. */
  choices: z.object({ workspaces: z.array(z.string()), models: z.array(z.string()), tags: z.array(z.string()) }),
});
export type AnalyticsReport = z.infer<typeof AnalyticsReport>;
