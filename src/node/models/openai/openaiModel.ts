import type { ModelInfo } from '../../../core/models/modelInfo';
import { isSize } from '../counts';

/** What nobody says is taken to be small: a window taken too large sends prompts that cannot fit, or are cut without a word. */
const unknownWindow = 32_768;
/** Models that say nothing of their longest answer give way to the prompt. */
const unknownOutput = 8_192;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A model as a server lists it; undefined for anything else. OpenAI's list has only ids; OpenRouter adds `context_length` and
 * `top_provider` and what a request may say, vLLM `max_model_len`, LM Studio `loaded_context_length` and `max_context_length`, llama.cpp `meta.n_ctx`.
 * `contextTokens`: what the user says, which goes before all of that.
 */
export function openaiModel(provider: string, listed: unknown, contextTokens: number | null): ModelInfo | undefined {
  if (typeof listed !== 'object' || listed === null) return undefined;
  const fields = listed as Fields;
  const { id, name } = fields;
  if (typeof id !== 'string' || id === '') return undefined;
  const meta = (fields['meta'] ?? {}) as Fields;
  const top = (fields['top_provider'] ?? {}) as Fields;
  const told = [
    fields['loaded_context_length'],
    top['context_length'],
    fields['context_length'],
    fields['max_model_len'],
    fields['context_window'],
    fields['max_context_length'],
    meta['n_ctx'],
  ].find(isSize);
  const window = contextTokens ?? told ?? unknownWindow;
  const maxOutput =
    [top['max_completion_tokens'], fields['max_completion_tokens'], fields['max_output_tokens']].find(isSize) ?? unknownOutput;
  const taken = fields['supported_parameters'];
  const thinking =
    Array.isArray(taken) && !taken.some((name) => name === 'reasoning' || name === 'reasoning_effort') ? { thinking: 'none' as const } : {};
  return {
    provider,
    id,
    name: typeof name === 'string' && name !== '' ? name : id,
    window,
    maxOutput: Math.min(maxOutput, window),
    source: contextTokens === null && told === undefined ? 'table' : 'provider',
    ...thinking,
  };
}
