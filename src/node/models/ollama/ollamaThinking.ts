import type { ThinkingLevel } from '../../../core/context/policy/thinkingLevel';
import type { ThinkingControl } from '../../../core/models/modelInfo';

/** Thinking is on, off, or at one of a model's levels. */
export type ThinkValue = boolean | string;

/**
 * What a model may be told about thinking, from `/api/show`: newer servers list it (`thinking.values`), those before only say that
 * it thinks. Of these the gpt-oss models take levels and nothing else, all others on and off.
 */
export function thinkValues(shown: Readonly<Record<string, unknown>>, thinks: boolean): readonly ThinkValue[] {
  const { values } = (shown['thinking'] ?? {}) as { values?: unknown };
  if (Array.isArray(values)) return values.filter((value): value is ThinkValue => typeof value === 'boolean' || typeof value === 'string');
  if (!thinks) return [];
  const { family } = (shown['details'] ?? {}) as { family?: unknown };
  return typeof family === 'string' && /^gpt-?oss/i.test(family) ? ['low', 'medium', 'high'] : [true, false];
}

export function thinkingControl(values: readonly ThinkValue[]): ThinkingControl {
  const canBeOff = values.includes(false) || values.includes('none');
  if (values.some((value) => typeof value === 'string' && value !== 'none')) return canBeOff ? 'levels' : 'always';
  return canBeOff && values.includes(true) ? 'switch' : 'none';
}

/** A value that the model does not know makes some servers refuse and others do as they like. Undefined: nothing comes near. */
export function thinkValue(level: ThinkingLevel, values: readonly ThinkValue[]): ThinkValue | undefined {
  const wishes: readonly ThinkValue[] = level === 'off' ? [false, 'none', 'minimal', 'low'] : [level, true];
  return wishes.find((wish) => values.includes(wish));
}
