import * as z from 'zod/mini';

export const segmentKinds = ['system', 'tools', 'memory', 'summary', 'history', 'toolResults', 'draft', 'reserved'] as const;

/** The one object that gauge, breakdown, status bar, command line and tests show: none of them computes numbers of its own. */
export const ContextSnapshot = z.object({
  sessionId: z.string(),
  branchLeafId: z.nullable(z.string()),
  /** `provider/model` */
  model: z.string(),
  policy: z.string(),
  /** The model's input limit. */
  window: z.number(),
  /** min(window, the policy's cap): all percentages are of this. */
  effective: z.number(),
  reserve: z.number(),
  /** Nothing larger is ever sent. */
  limit: z.number(),
  used: z.number(),
  /** `exact` only while `used` is what the provider reported and nothing has been added since. */
  provenance: z.enum(['exact', 'estimated']),
  segments: z.array(z.object({ kind: z.enum(segmentKinds), tokens: z.number() })),
  thresholds: z.array(
    z.object({
      kind: z.enum(['nudge', 'compaction', 'limit']),
      percent: z.number(),
      tokens: z.number(),
      state: z.enum(['ahead', 'due', 'delivered', 'acted', 'passed', 'off']),
    }),
  ),
  nextEvent: z.nullable(z.object({ kind: z.enum(['nudge', 'compaction', 'limit']), inTokens: z.number() })),
  /** Forecast from the growth per turn so far; null while there is too little to tell. */
  turnsLeft: z.nullable(z.number()),
  /** So many stand behind the prompt of this branch: the live one, and those whose state it has taken in. */
  compactions: z.number(),
  updatedAt: z.number(),
});
export type ContextSnapshot = z.infer<typeof ContextSnapshot>;
export type SegmentKind = (typeof segmentKinds)[number];
