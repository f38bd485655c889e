import type { ThinkingControl } from '../../models/modelInfo';

/** How much a model may think before it answers. */
export const thinkingLevels = ['off', 'low', 'medium', 'high'] as const;
export type ThinkingLevel = (typeof thinkingLevels)[number];

/** Tokens of thinking, where a model takes a number; others are told the level. */
export const thinkingTokens: Readonly<Record<ThinkingLevel, number>> = { off: 0, low: 4_096, medium: 10_240, high: 24_576 };

/** Reserved for the answer itself beside the thinking, in tokens. */
export const answerTokens = 4_096;

/** What a model can be told; null: nothing, it thinks as it does by itself. */
export function usableLevel(level: ThinkingLevel | null, control: ThinkingControl | undefined): ThinkingLevel | null {
  return control === 'none' || (control === 'always' && level === 'off') ? null : level;
}

/** Null: as the model does by itself; also what another version may have written. */
export function parseThinkingLevel(value: string | null): ThinkingLevel | null {
  return thinkingLevels.find((level) => level === value) ?? null;
}
