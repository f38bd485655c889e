import * as z from 'zod/mini';

/** A `UsageRecord` as it leaves the store: in exports, and between the machines of one history. */
export const UsageRow = z.object({
  entry: z.string(),
  provider: z.string(),
  model: z.string(),
  kind: z.enum(['turn', 'compaction', 'count', 'failed', 'imported', 'aside']),
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  /** Of `cacheWrite`, what was written to be kept for an hour; omitted: nothing. */
  cacheWriteHour: z.optional(z.number()),
  /** The tokens are an estimate: the provider has reported none. */
  estimated: z.optional(z.literal(true)),
  /** The amount is in US dollars; null when the price is not known. */
  cost: z.nullable(z.number()),
  at: z.number(),
});
