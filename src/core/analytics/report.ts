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
  /** First messages after a pause in which the prompt cache had expired, by what was billed. */
  returns: z.object({
    count: z.number(),
    /** Tokens that were written again, and their price. */
    again: z.number(),
    cost,
    /** So many were compacted first, with a summary that was prepared; what was not written again for that. */
    folded: z.number(),
    saved: z.number(),
    savedCost: cost,
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

/** `2026-11-20`, in local time. */
export function dayOf(at: number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Every local day that the range touches, oldest first. */
export function daysBetween(from: number, to: number): string[] {
  const days: string[] = [];
  const date = new Date(from);
  // It goes by the calendar, at noon: a day on which the clocks change has 23 or 25 hours.
  for (date.setHours(12, 0, 0, 0); dayOf(date.getTime()) <= dayOf(to); date.setDate(date.getDate() + 1)) days.push(dayOf(date.getTime()));
  return days;
}

/** The range goes from the first moment of the local day `count - 1` days ago to the last of today. */
export function lastDays(count: number, now: number): { readonly from: number; readonly to: number } {
  const today = new Date(now);
  const at = (offset: number) => new Date(today.getFullYear(), today.getMonth(), today.getDate() + offset).getTime();
  return { from: at(1 - count), to: at(1) - 1 };
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
