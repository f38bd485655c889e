import type { Anthropic } from '@anthropic-ai/sdk';
import type { ModelInfo } from '../../../core/models/modelInfo';
import { modelFromTable } from '../modelTable';
import { isSize } from '../counts';

/**
 * A model as the models endpoint lists it, under the id it was asked for (an alias stays the alias). Undefined for an answer
 * that is not a model: gateways and sign-in pages answer anything. Missing limits come from the table.
 */
export function anthropicModel(provider: string, listed: unknown, askedFor?: string): ModelInfo | undefined {
  if (typeof listed !== 'object' || listed === null) return undefined;
  const { id, display_name: name, max_input_tokens: window, max_tokens: maxOutput, capabilities } = listed as Record<string, unknown>;
  if (typeof id !== 'string') return undefined;
  const known = modelFromTable(provider, id);
  const asked = isSize(window) && isSize(maxOutput);
  if (!asked && !known) return undefined;
  return {
    provider,
    id: askedFor ?? id,
    name: typeof name === 'string' && name !== '' ? name : (known?.name ?? id),
    window: isSize(window) ? window : (known?.window ?? 0),
    maxOutput: isSize(maxOutput) ? maxOutput : (known?.maxOutput ?? 0),
    source: asked ? 'provider' : 'table',
    ...thinkingOf(capabilities),
    ...((capabilities as Partial<Anthropic.ModelCapabilities> | null | undefined)?.structured_outputs?.supported === true
      ? { structured: true as const }
      : {}),
  };
}

/** Gateways list no capabilities, or some of them. */
function thinkingOf(capabilities: unknown): Pick<ModelInfo, 'thinking'> {
  const { supported, types } = ((capabilities as Partial<Anthropic.ModelCapabilities> | null | undefined)?.thinking ??
    {}) as Partial<Anthropic.ThinkingCapability>;
  if (supported === false) return { thinking: 'none' };
  if (supported !== true) return {};
  return { thinking: types?.disabled?.supported === false ? 'always' : 'levels' };
}
