/** `levels`: any, `off` among them; `always`: any but `off`; `switch`: on or off; `none`: it does as it does. */
export type ThinkingControl = 'levels' | 'always' | 'switch' | 'none';

export interface ModelInfo {
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  /** Input limit in tokens. */
  readonly window: number;
  readonly maxOutput: number;
  /** `provider`: it was asked. `table`: the dated fallback. */
  readonly source: 'provider' | 'table';
  /** Omitted: nobody knows; a level is sent, and left out where it is refused. */
  readonly thinking?: ThinkingControl;
  /** The provider says that it can hold the model's answers to a schema. */
  readonly structured?: true;
}

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

/** How a provider keeps prompts that are marked for it. A client whose provider keeps them otherwise, or not at all, has none of these. */
export interface CacheRules {
  /** A prompt of so many tokens is kept by every model; some keep shorter ones too. */
  readonly leastTokens: number;
}
