import * as z from 'zod/mini';

/** What an identifier audit found: measured when a range is folded, stored with its record. */
export const Audit = z.object({
  /** Identifiers that had to survive. */
  checked: z.number(),
  inSummary: z.number(),
  /** These are in the model's text or in what stands beside it (ledgers, passages, the list of identifiers). */
  leftBehind: z.number(),
  /** The most important of those that did not; recall finds them. */
  missing: z.array(z.string()),
  /** The model was asked a second time. */
  repaired: z.boolean(),
  /** Ids that the model cited and that no entry has: they were replaced or taken out. */
  unknownIds: z.optional(z.array(z.string())),
});
export type Audit = z.infer<typeof Audit>;

/** How much of a folded range survived, measured and not claimed. */
export const Continuity = z.object({
  /** Weighted share that is in what was left behind. */
  inContextPercent: z.number(),
  /** Weighted share of a sample that a search finds again; null when nothing was searched. */
  reachablePercent: z.nullable(z.number()),
  elements: z.number(),
  searched: z.number(),
});
export type Continuity = z.infer<typeof Continuity>;
