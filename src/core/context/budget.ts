import type { ModelInfo } from '../ports';
import type { Policy } from './policy';

export interface NudgePoint {
  /** Percent of the effective window, 0–100. */
  readonly percent: number;
  readonly tokens: number;
  readonly injectAs: 'system' | 'user';
  readonly prompt: string | null;
}

/** A policy resolved for one model, in tokens. nudges < trigger ≤ limit always holds. */
export interface Budget {
  readonly window: number;
  readonly effective: number;
  readonly reserve: number;
  readonly outputTokens: number;
  /** Nothing larger is ever sent. */
  readonly limit: number;
  readonly trigger: number;
  readonly nudges: readonly NudgePoint[];
  /** Tokens that stay verbatim at a compaction. */
  readonly keep: number;
  /** A single message above this is projected as head + tail. */
  readonly oversized: number;
  readonly maxSummary: number;
}

/**
 * effective = min(window, cap); limit = min(effective, window − reserve). The reserve is bounded by a quarter of the window
 * (output) plus a twentieth (safety), so that a model with a window of a few thousand tokens still has room for a conversation.
 */
export function resolveBudget(policy: Policy, model: Pick<ModelInfo, 'window' | 'maxOutput'>): Budget {
  const { window } = model;
  const cap = policy.window.maxTokens;
  const effective = cap > 0 ? Math.min(window, cap) : window;
  const wanted = policy.reserve.outputTokens ?? Math.min(model.maxOutput, 8_192);
  const outputTokens = Math.max(1, Math.min(wanted, model.maxOutput, Math.floor(window / 4)));
  const reserve = outputTokens + Math.min(policy.reserve.safetyTokens, Math.floor(window / 20));
  const limit = Math.min(effective, window - reserve);
  const trigger = Math.min(Math.floor(policy.compaction.trigger.percent * effective), limit);

  const sorted = [...policy.memoryFlush.thresholds].sort((a, b) => a.percent - b.percent);
  // A nudge at or above the trigger would never be seen: such lists move to 50 % and 75 % of the trigger, evenly spread for more.
  const swallowed = sorted.some((t) => Math.floor(t.percent * effective) >= trigger);
  const nudges = sorted.map((threshold, index): NudgePoint => {
    const fraction = sorted.length === 2 ? [0.5, 0.75][index]! : (index + 1) / (sorted.length + 1);
    const tokens = swallowed ? Math.floor(trigger * fraction) : Math.floor(threshold.percent * effective);
    return {
      percent: swallowed ? Math.round((tokens / effective) * 100) : Math.round(threshold.percent * 1000) / 10,
      tokens,
      injectAs: threshold.injectAs,
      prompt: threshold.prompt ?? null,
    };
  });

  const { keep } = policy.compaction;
  return {
    window,
    effective,
    reserve,
    outputTokens,
    limit,
    trigger,
    nudges: policy.memoryFlush.enabled ? nudges : [],
    // Bounded by 40 % of the limit: on a small window the preset's minimum would leave nothing to fold.
    keep: Math.floor(Math.min(Math.max(keep.tokens.min, Math.min(keep.tokens.max, keep.tokens.percent * effective)), 0.4 * limit)),
    oversized: Math.floor(policy.compaction.oversizedMessageFraction * limit),
    maxSummary: Math.min(policy.compaction.maxSummaryTokens, Math.floor(limit / 5)),
  };
}
