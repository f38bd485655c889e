import * as z from 'zod/mini';

export const segmentKinds = ['system', 'tools', 'memory', 'summary', 'history', 'toolResults', 'draft', 'reserved'] as const;

export const cacheTimes = ['5m', '1h'] as const;
/** For how long a provider is paid to keep a prompt that nobody asks for again. */
export type CacheTime = (typeof cacheTimes)[number];

/** What one message takes on the input side. */
export const MessagePrice = z.object({
  /** Tokens that the cache has. */
  read: z.number(),
  /** Tokens that are written to it. */
  written: z.number(),
  /** Tokens that are sent beside it. */
  fresh: z.number(),
  /** Dollars; null where no price is known. */
  cost: z.nullable(z.number()),
});
export type MessagePrice = z.infer<typeof MessagePrice>;

/** Part of the `ContextSnapshot`: what the provider still has of the prompt, and what the next message costs. */
export const CacheState = z.object({
  /** `unknown`: the provider caches otherwise or not at all, or the clock has been set back. Nothing is folded on account of that. */
  state: z.enum(['warm', 'cold', 'unknown']),
  /** When it expires, or (`cold`) has expired; null where nothing is known or held. */
  until: z.nullable(z.number()),
  /** What was paid for, or (`cold`) will be by the next message; null where nothing is known. */
  time: z.nullable(z.enum(cacheTimes)),
  /** Tokens of the prompt that the cache has now. */
  held: z.number(),
  /** Tokens that have been written once and would be written again by the next message; 0 while they are held. */
  rewrites: z.number(),
  /** So many that the policy does something about it: the line above the composer is for this. */
  matters: z.boolean(),
  /** What the policy does about it. */
  whenCold: z.enum(['fold', 'ask', 'keep']),
  /** A summary has been prepared and is used on return. */
  prepared: z.boolean(),
  /** Estimated, all of it, until a request has been counted by the provider. Null where the state is not known. */
  next: z.nullable(
    z.object({
      /** Which of the prices is that of the next message as things stand. */
      expects: z.enum(['warm', 'cold', 'folded', 'full']),
      warm: MessagePrice,
      cold: MessagePrice,
      /** With the prepared summary in the place of what it stands for; null without one. */
      folded: z.nullable(MessagePrice),
      /** With the compaction that is due with it because the context is full; null where none is, or its summary is not ready. */
      full: z.nullable(MessagePrice),
    }),
  ),
});
export type CacheState = z.infer<typeof CacheState>;

export const unknownCache: CacheState = {
  state: 'unknown',
  until: null,
  time: null,
  held: 0,
  rewrites: 0,
  matters: false,
  whenCold: 'keep',
  prepared: false,
  next: null,
};

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
  /** What the provider still has of the prompt, and what the next message costs. */
  cache: CacheState,
  /** A summary is being written, and paid for, that nobody waits for. */
  summarizing: z.boolean(),
  updatedAt: z.number(),
});
export type ContextSnapshot = z.infer<typeof ContextSnapshot>;
export type SegmentKind = (typeof segmentKinds)[number];
