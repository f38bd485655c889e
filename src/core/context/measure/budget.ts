import { answerTokens, thinkingTokens, type ModelInfo, type ThinkingLevel } from '../../models/modelInfo';
import type { Keep, Policy } from '../policy/policy';

/** Folding has to pay: a record that saves less than this share of the context is not made. */
export const leastSaving = 0.1;

export interface NudgePoint {
  /** Percent of the effective window, 0–100. */
  readonly percent: number;
  readonly tokens: number;
  readonly injectAs: 'system' | 'user';
  readonly prompt: string | null;
  /** False: asked in every turn while the size is above it. */
  readonly oncePerCycle: boolean;
}

/** A policy resolved for one model, in tokens. nudges < prepare < trigger ≤ hard limit ≤ limit always holds. */
export interface Budget {
  readonly window: number;
  readonly effective: number;
  readonly reserve: number;
  readonly outputTokens: number;
  /** Nothing larger is ever sent. */
  readonly limit: number;
  readonly trigger: number;
  /** Messages at which a compaction is due as well; 0 = not by messages. */
  readonly triggerMessages: number;
  /** Where a summary is begun in the background; null = not before it is needed. */
  readonly prepare: number | null;
  /** Above this room is made whatever that takes. */
  readonly hardLimit: number;
  readonly nudges: readonly NudgePoint[];
  readonly checkpoints: readonly number[];
  /** Bound on the tokens that stay verbatim at a compaction. */
  readonly keep: number;
  /** Size of the whole context to come down to; null = what the policy keeps decides. */
  readonly target: number | null;
  /** A single message above this is projected as head + tail. */
  readonly oversized: number;
  readonly maxSummary: number;
}

/** An entry above this size is sent as head and tail; it counts in own, uncalibrated tokens. */
export interface BoundInUse {
  readonly oversized: number;
  /** The same as the policy has it, which may leave too much room. */
  readonly policyOversized: number;
}

/** Between the last nudge and the preparation, so that the notes it asked for are in the summary: share of the window. */
const afterNudge = 0.02;
/** Where preparation moves when the trigger lies below it: as far in front of it as in the default policy (78 of 85 %). */
const preparedShare = 0.92;
/** Where the policy bounds what is kept by messages only: more would make the next compaction due at once. */
const keepShare = 0.75;

/**
 * effective = min(window, cap); limit = min(effective, window − reserve). The reserve is bounded by a quarter of the window
 * (output) plus a twentieth (safety), so that a model with a window of a few thousand tokens still has room for a conversation.
 */
export function resolveBudget(
  policy: Policy,
  model: Pick<ModelInfo, 'window' | 'maxOutput'>,
  thinking: ThinkingLevel | null = null,
): Budget {
  const { window } = model;
  const { compaction, checkpoint } = policy;
  const cap = policy.window.maxTokens;
  const effective = cap > 0 ? Math.min(window, cap) : window;
  const wanted =
    policy.reserve.outputTokens ??
    (thinking === null || thinking === 'off' ? Math.min(model.maxOutput, 8_192) : thinkingTokens[thinking] + answerTokens);
  const outputTokens = Math.max(1, Math.min(wanted, model.maxOutput, Math.floor(window / 4)));
  const reserve = outputTokens + Math.min(policy.reserve.safetyTokens, Math.floor(window / 20));
  const limit = Math.min(effective, window - reserve);
  const trigger = resolveTrigger(compaction, effective, limit);
  const hardLimit = Math.min(limit, Math.max(trigger, Math.floor((compaction.hardLimitPercent ?? 1) * effective)));
  const nudges = resolveNudges(policy, effective, trigger);
  return {
    window,
    effective,
    reserve,
    outputTokens,
    limit,
    trigger,
    triggerMessages: compaction.trigger.messages ?? 0,
    prepare: resolvePrepare(compaction.prepareAtPercent, nudges, effective, trigger),
    hardLimit,
    nudges,
    checkpoints: checkpoint.enabled ? checkpoint.thresholds.map((share) => Math.floor(share * effective)).sort((a, b) => a - b) : [],
    keep: resolveKeep(compaction.keep, effective, limit, trigger),
    target: compaction.keep.targetPercent === undefined ? null : Math.floor(compaction.keep.targetPercent * effective),
    oversized: Math.floor(compaction.oversizedMessageFraction * limit),
    maxSummary: Math.min(compaction.maxSummaryTokens, Math.floor(limit / 5)),
  };
}

/** Whether a context of `used` tokens and `messages` messages has reached the policy's trigger. */
export function compactionDue(
  { atOrAbove }: Pick<Policy['compaction'], 'atOrAbove'>,
  budget: Pick<Budget, 'trigger' | 'triggerMessages' | 'limit'>,
  used: number,
  messages: number,
): boolean {
  const reached = (value: number, at: number) => (atOrAbove ? value >= at : value > at);
  return reached(used, budget.trigger) || used > budget.limit || (budget.triggerMessages > 0 && reached(messages, budget.triggerMessages));
}

/** Where something happens, in tokens; as it is logged. */
export function thresholdsOf({
  nudges,
  prepare,
  trigger,
  triggerMessages,
  hardLimit,
  limit,
  effective,
}: Budget): Readonly<Record<string, unknown>> {
  return { nudges: nudges.map(({ tokens }) => tokens), prepare, trigger, triggerMessages, hardLimit, limit, effective };
}

/** The lowest of the kinds that count tokens; without one, the limit. */
function resolveTrigger({ trigger, atOrAbove }: Policy['compaction'], effective: number, limit: number): number {
  // A size is a whole number: 85 % of 10,001 is reached at 8,501, and 70 % of it is exceeded from 7,001 on.
  const ofWindow = (share: number) => (atOrAbove ? Math.ceil(share * effective - 1e-6) : Math.floor(share * effective + 1e-6));
  const at = [
    ...(trigger.percent ? [ofWindow(trigger.percent)] : []),
    // Half of a window is the bound where the reserve would all but fill it.
    ...(trigger.reserveTokens ? [Math.max(effective - trigger.reserveTokens, Math.floor(effective / 2))] : []),
    ...(trigger.tokens ? [trigger.tokens] : []),
  ];
  return Math.max(1, Math.min(limit, ...at));
}

function resolveNudges({ memoryFlush }: Policy, effective: number, trigger: number): NudgePoint[] {
  if (!memoryFlush.enabled) return [];
  const sorted = [...memoryFlush.thresholds].sort((a, b) => a.percent - b.percent);
  // A nudge at or above the trigger would never be seen: such lists move to 50 % and 75 % of the trigger, evenly spread for more.
  const swallowed = sorted.some((t) => Math.floor(t.percent * effective) >= trigger);
  return sorted.map((threshold, index): NudgePoint => {
    const fraction = sorted.length === 2 ? [0.5, 0.75][index]! : (index + 1) / (sorted.length + 1);
    const tokens = swallowed ? Math.floor(trigger * fraction) : Math.floor(threshold.percent * effective);
    return {
      percent: swallowed ? Math.round((tokens / effective) * 100) : Math.round(threshold.percent * 1000) / 10,
      tokens,
      injectAs: threshold.injectAs,
      prompt: threshold.prompt ?? null,
      oncePerCycle: threshold.oncePerCycle,
    };
  });
}

function resolvePrepare(share: number | undefined, nudges: readonly NudgePoint[], effective: number, trigger: number): number | null {
  if (share === undefined) return null;
  const wanted = Math.floor(share * effective);
  const behindNudges = nudges.length === 0 ? 0 : nudges.at(-1)!.tokens + Math.floor(afterNudge * effective);
  const at = Math.max(wanted < trigger ? wanted : Math.floor(trigger * preparedShare), behindNudges);
  return at < trigger ? at : null;
}

function resolveKeep({ tokens, targetPercent }: Keep, effective: number, limit: number, trigger: number): number {
  // Where the policy says what to come down to, that is the bound.
  if (!tokens)
    return targetPercent === undefined ? Math.floor(keepShare * trigger) : Math.min(Math.floor(targetPercent * effective), trigger);
  // Bounded by 40 % of the limit: on a small window the preset's minimum would leave nothing to fold.
  return Math.floor(Math.min(Math.max(tokens.min, Math.min(tokens.max, tokens.percent * effective)), 0.4 * limit));
}
