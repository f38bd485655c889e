import { ApiError, type DoubleModel } from './messagesApiWire';

const current = { window: 1_000_000, maxOutput: 128_000, minCacheTokens: 1_024, omitsThinking: true, hears: true } as const;
const earlier = { window: 200_000, maxOutput: 64_000, minCacheTokens: 1_024, omitsThinking: false };
const tiny = { minCacheTokens: 64, omitsThinking: false };

/** Newest first, as the provider lists them. The tiny ones do not exist: they fill up within a few turns. */
export const defaultModels: readonly DoubleModel[] = [
  { id: 'claude-haiku-5-5', name: 'Claude Haiku 5.5', ...current },
  { id: 'claude-sonnet-5-5', name: 'Claude Sonnet 5.5', ...current },
  { id: 'claude-opus-5-5', name: 'Claude Opus 5.5', ...current, minCacheTokens: 4_096 },
  { id: 'claude-haiku-4-5', name: 'Claude Haiku 4.5', ...earlier, minCacheTokens: 4_096 },
  { id: 'claude-sonnet-4-5', name: 'Claude Sonnet 4.5', ...earlier },
  { id: 'claude-tiny-8k', name: 'Claude Tiny 8k', window: 8_000, maxOutput: 2_000, ...tiny },
  { id: 'claude-tiny-4k', name: 'Claude Tiny 4k', window: 4_000, maxOutput: 1_000, ...tiny },
];

export function findModel(models: readonly DoubleModel[], id: string): DoubleModel {
  const model = models.find((known) => known.id === id);
  if (!model) throw new ApiError(404, 'not_found_error', `model: ${id}`);
  return model;
}

/** One page of `GET /v1/models`. `pageSize` caps what the request may ask for, so that paging shows with few models. */
export function modelPage(models: readonly DoubleModel[], query: URLSearchParams, pageSize: number): object {
  const after = query.get('after_id');
  const start = after === null ? 0 : models.findIndex(({ id }) => id === after) + 1;
  const asked = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(asked) || asked < 1 || asked > 1000)
    throw new ApiError(400, 'invalid_request_error', 'limit: Input should be between 1 and 1000');
  const data = models.slice(start, start + Math.min(asked, pageSize));
  return {
    data: data.map(wireModel),
    has_more: start + data.length < models.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

export function wireModel({ id, name, window, maxOutput, structured }: DoubleModel): object {
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: '2026-09-28T00:00:00Z',
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    max_input_tokens: window,
    max_tokens: maxOutput,
    retires_at: null,
    capabilities: structured === undefined ? null : { structured_outputs: { supported: structured } },
  };
}
