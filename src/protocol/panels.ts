import * as z from 'zod/mini';
import { AnalyticsReport } from '../core/analytics/report';
import { ContextSnapshot, segmentKinds } from '../core/context/measure/snapshot';
import { Continuity } from '../core/session/entry';
import type { Wire } from './channel';
import { SessionHeader } from './messages';

/** What a panel in the editor area shows. It is small, so every change sends all of it again: there are no deltas. */

const id = z.string();

export const BreakdownState = z.object({
  panel: z.literal('breakdown'),
  /** Null while there is nothing to show. */
  session: z.nullable(SessionHeader),
  context: z.nullable(ContextSnapshot),
  /** Something runs in the session, here or in another window: its context cannot be changed now. */
  busy: z.boolean(),
  readonly: z.boolean(),
  /** The entries that take most of the prompt, the largest first. */
  largest: z.array(
    z.object({
      id,
      /** It is told in words: `user`, `result of read_file`. */
      speaker: z.string(),
      /** The first words. */
      text: z.string(),
      at: z.number(),
      segment: z.enum(segmentKinds),
      tokens: z.number(),
      pinned: z.boolean(),
      /** What is no part of the conversation itself (a summary, a note) cannot be pinned. */
      canPin: z.boolean(),
      canExclude: z.boolean(),
    }),
  ),
  /** What the user has taken out of the context, oldest first. */
  excluded: z.array(z.object({ id, speaker: z.string(), text: z.string(), at: z.number() })),
  timeline: z.object({
    points: z.array(z.object({ position: z.number(), at: z.number(), tokens: z.number(), measured: z.boolean() })),
    marks: z.array(
      z.object({
        kind: z.enum(['compaction', 'undo', 'checkpoint', 'exclusion']),
        entry: id,
        position: z.number(),
        at: z.number(),
        tokens: z.number(),
      }),
    ),
  }),
  /** Oldest first. */
  compactions: z.array(
    z.object({
      id,
      at: z.number(),
      trigger: z.enum(['automatic', 'manual', 'overflow', 'cold', 'edit', 'retry']),
      /** It is told in words. */
      method: z.string(),
      messages: z.number(),
      tokensBefore: z.number(),
      tokensAfter: z.number(),
      durationMs: z.number(),
      heldMs: z.number(),
      continuity: z.nullable(Continuity),
      state: z.enum(['live', 'undone', 'replaced', 'superseded']),
    }),
  ),
});
export type BreakdownState = z.infer<typeof BreakdownState>;

export const AnalyticsFilter = z.object({
  /** Up to today. */
  days: z.number(),
  workspace: z.nullable(z.string()),
  /** `provider/model` */
  model: z.nullable(z.string()),
  tag: z.nullable(z.string()),
});
export type AnalyticsFilter = z.infer<typeof AnalyticsFilter>;

export const AnalyticsState = z.object({ panel: z.literal('analytics'), filter: AnalyticsFilter, report: AnalyticsReport });
export type AnalyticsState = z.infer<typeof AnalyticsState>;

/** What VS Code keeps of an open panel through a reload of the window. */
export const PanelMemory = z.object({ filter: z.optional(AnalyticsFilter) });
export type PanelMemory = z.infer<typeof PanelMemory>;

export const PanelState = z.discriminatedUnion('panel', [
  BreakdownState,
  AnalyticsState,
  /** What the panel shows could not be read. */
  z.object({ panel: z.literal('failed'), message: z.string() }),
]);
export type PanelState = z.infer<typeof PanelState>;

/** Requests from a panel; each is answered. */
export const PanelRequest = z.discriminatedUnion('method', [
  /** Reply: why there was nothing to fold, or null. */
  z.object({ method: z.literal('compact') }),
  /** Reply: why there was nothing to save, or null. */
  z.object({ method: z.literal('checkpoint') }),
  z.object({ method: z.literal('undo_compaction') }),
  /** Goes to an entry in the Chat view. */
  z.object({ method: z.literal('jump'), id }),
  z.object({ method: z.literal('pin'), id }),
  z.object({ method: z.literal('unpin'), id }),
  z.object({ method: z.literal('exclude'), id }),
  z.object({ method: z.literal('include'), id }),
  /** Shows the prompt without and with a compaction beside each other. */
  z.object({ method: z.literal('compare'), id }),
  z.object({ method: z.literal('filter'), filter: AnalyticsFilter }),
  z.object({ method: z.literal('open_session'), uuid: id }),
]);
export type PanelRequest = z.infer<typeof PanelRequest>;

/** A panel has no deltas. */
export const panelWire: Wire<PanelState, never, PanelRequest> = {
  fromHost: z.discriminatedUnion('type', [
    z.object({ type: z.literal('snapshot'), seq: z.number(), snapshot: PanelState }),
    z.object({ type: z.literal('delta'), seq: z.number(), delta: z.never() }),
    z.object({ type: z.literal('reply'), requestId: z.number(), result: z.unknown() }),
    z.object({ type: z.literal('error'), requestId: z.number(), message: z.string() }),
  ]),
  fromView: z.discriminatedUnion('type', [
    z.object({ type: z.literal('ready') }),
    z.object({ type: z.literal('request'), requestId: z.number(), request: PanelRequest }),
    z.object({ type: z.literal('fault'), message: z.string() }),
  ]),
};
