import type { Anthropic } from '@anthropic-ai/sdk';
import type { CacheRules } from '../../core/models/modelInfo';
import type { ModelInfo } from '../../core/models/modelInfo';
import type { ModelFailure } from '../../core/models/modelEvent';

/** The literal ids of the SDK's `Model` type, so that a newer SDK with a new model does not compile until it has a row here. */
type KnownModel = Literal<Anthropic.Model>;
type Literal<T> = T extends string ? (string extends T ? never : T) : never;

interface Row {
  readonly name: string;
  readonly window: number;
  readonly maxOutput: number;
  /**
   * Thinks when the request does not say so, and then returns thinking blocks without text unless asked for a summary
   * (platform.claude.com, "Thinking", 2026-11).
   */
  readonly thinks?: true;
  /** Takes an effort in the place of a number of tokens for its thinking; those that think unasked do, too. */
  readonly adapts?: true;
  /**
   * Takes a system message behind a user's turn (platform.claude.com, "Mid-conversation system messages": since Claude Opus 4.8); those
   * that think unasked do, too.
   */
  readonly hears?: true;
}

const million = { window: 1_000_000, maxOutput: 128_000 };
const first45 = { window: 200_000, maxOutput: 64_000 };

/**
 * Used only where the provider cannot be asked. As of 2026-11-22: ids from the types of `@anthropic-ai/sdk` 1.12.0; limits from
 * the model pages of platform.claude.com, those of the Mythos models (same as the Fable model of that number) from the Bedrock
 * model cards.
 */
const table: Readonly<Record<KnownModel, Row>> = {
  'claude-fable-5-2': { name: 'Claude Fable 5.2', ...million, thinks: true },
  'claude-mythos-5-2': { name: 'Claude Mythos 5.2', ...million, thinks: true },
  'claude-haiku-5-5': { name: 'Claude Haiku 5.5', ...million, thinks: true },
  'claude-sonnet-5-5': { name: 'Claude Sonnet 5.5', ...million, thinks: true },
  'claude-fable-5-1': { name: 'Claude Fable 5.1', ...million, thinks: true },
  'claude-opus-5-5': { name: 'Claude Opus 5.5', ...million, thinks: true },
  'claude-mythos-5-1': { name: 'Claude Mythos 5.1', ...million, thinks: true },
  'claude-sonnet-5': { name: 'Claude Sonnet 5', ...million, thinks: true },
  'claude-fable-5': { name: 'Claude Fable 5', ...million, thinks: true },
  'claude-mythos-5': { name: 'Claude Mythos 5', ...million, thinks: true },
  'claude-opus-5': { name: 'Claude Opus 5', ...million, thinks: true },
  'claude-opus-4-8': { name: 'Claude Opus 4.8', ...million, adapts: true, hears: true },
  'claude-opus-4-7': { name: 'Claude Opus 4.7', ...million, adapts: true },
  'claude-mythos-preview': { name: 'Claude Mythos Preview', ...million, adapts: true },
  'claude-opus-4-6': { name: 'Claude Opus 4.6', ...million, adapts: true },
  'claude-sonnet-4-6': { name: 'Claude Sonnet 4.6', ...million, adapts: true },
  'claude-haiku-4-5': { name: 'Claude Haiku 4.5', ...first45 },
  'claude-haiku-4-5-20251001': { name: 'Claude Haiku 4.5', ...first45 },
  'claude-opus-4-5': { name: 'Claude Opus 4.5', ...first45 },
  'claude-opus-4-5-20251101': { name: 'Claude Opus 4.5', ...first45 },
  'claude-sonnet-4-5': { name: 'Claude Sonnet 4.5', ...first45 },
  'claude-sonnet-4-5-20250929': { name: 'Claude Sonnet 4.5', ...first45 },
};

/** Safe for every Claude model since Claude 3: a window taken too large would send prompts that cannot fit. */
const conservative = { window: 200_000, maxOutput: 8_192 };

/** Every Claude keeps a prompt of 4,096 tokens, some keep one of 1,024 (platform.claude.com, "Prompt caching", 2026-11). */
export const cacheRules: CacheRules = { leastTokens: 4_096 };

/** What the automatic choice falls back to when no list of models can be had. */
export const fallbackModel: KnownModel = 'claude-sonnet-5-5';

/** Limits without asking anyone; conservative for an unknown model that is a Claude by its name, undefined for any other. */
export function modelFromTable(provider: string, id: string): ModelInfo | undefined {
  const row = rowOf(id);
  if (row) return { provider, id, name: row.name, window: row.window, maxOutput: row.maxOutput, source: 'table' };
  return /claude/i.test(id) ? { provider, id, name: id, ...conservative, source: 'table' } : undefined;
}

/** Whether the model thinks unasked; false for models not in the table. */
export function thinksUnasked(id: string): boolean {
  return rowOf(id)?.thinks === true;
}

/** Whether the model decides by itself how much it thinks, guided by an effort; false for models not in the table. */
export function thinksAdaptively(id: string): boolean {
  const row = rowOf(id);
  return row?.thinks === true || row?.adapts === true;
}

/** Whether a system message may stand among the others; false for models not in the table. */
export function takesSystemInside(id: string): boolean {
  const row = rowOf(id);
  return row?.thinks === true || row?.hears === true;
}

function rowOf(id: string): Row | undefined {
  return Object.hasOwn(table, id) ? table[id as KnownModel] : undefined;
}

/** Windows that are smaller than a server says, as its refusals or its memory have shown. */
export class LearnedWindows {
  private readonly limits = new Map<string, number>();

  /** `outputShare`: of the window, that an answer may take at most. */
  constructor(private readonly outputShare: number) {}

  learn(model: string, { reason, window }: Pick<ModelFailure, 'reason' | 'window'>): void {
    if (reason === 'overflow' && window) this.limits.set(model, Math.min(window, this.limits.get(model) ?? window));
  }

  limited(info: ModelInfo): ModelInfo {
    const window = Math.min(info.window, this.limits.get(info.id) ?? info.window);
    return { ...info, window, maxOutput: Math.min(info.maxOutput, Math.ceil(window * this.outputShare)) };
  }
}

/** A number of tokens that a server reports may be 0. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** A window or a bound of 0 says nothing. */
export function isSize(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0;
}
