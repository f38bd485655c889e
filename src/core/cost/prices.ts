import * as z from 'zod/mini';
import { t, wholeNumber } from '../l10n';
import type { TokenUsage } from '../models/modelEvent';

const dollars = z.number().check(z.nonnegative());
const rates = {
  input: dollars,
  output: dollars,
  cacheRead: z.optional(dollars),
  cacheWrite: z.optional(dollars),
  /** What is to be kept for an hour; omitted: in the proportion that Anthropic has. */
  cacheWriteHour: z.optional(dollars),
};

/** US dollars per million tokens. */
export const Price = z.object({
  ...rates,
  /** These prices hold for the whole of a request whose prompt, cached parts included, is longer than `tokens`. */
  above: z.optional(z.object({ tokens: z.int().check(z.positive()), ...rates })),
});
export type Price = z.infer<typeof Price>;

/** A key is `provider/model`, or the model alone. */
export type PriceTable = Readonly<Record<string, Price>>;

/** Dollars that a request cost; null when nobody knows. */
export type CostOf = (provider: string, model: string, usage: TokenUsage) => number | null;

/**
 * Anthropic's own prices as of 2026-11-22 (platform.claude.com, "Pricing" and the pages of the models). Models whose price could not
 * be found there are not listed: Fable 5.2 and the newest Mythos models. Gateways have prices of their own; whoever uses one sets them.
 */
export const builtInPrices: PriceTable = anthropic({
  'claude-fable-5-1': rate(10, 50, 0.25),
  'claude-mythos-5-1': rate(10, 50, 0.25),
  'claude-fable-5': rate(10, 50, 1),
  'claude-mythos-5': rate(10, 50, 1),
  'claude-opus-5-5': rate(4, 20, 0.2),
  'claude-opus-5': rate(5, 25, 0.5),
  'claude-opus-4-8': rate(5, 25, 0.5),
  'claude-opus-4-7': rate(5, 25, 0.5),
  'claude-opus-4-6': rate(5, 25, 0.5),
  'claude-opus-4-5': rate(5, 25, 0.5),
  'claude-opus-4-5-20251101': rate(5, 25, 0.5),
  // Cache reads since 2026-10-07.
  'claude-sonnet-5-5': rate(2, 10, 0.1),
  'claude-sonnet-5': rate(2, 10, 0.2),
  'claude-sonnet-4-6': rate(3, 15, 0.3),
  'claude-sonnet-4-5': rate(3, 15, 0.3),
  'claude-sonnet-4-5-20250929': rate(3, 15, 0.3),
  'claude-haiku-5-5': { ...rate(0.1, 0.5, 0.01), above: { tokens: 100_000, ...rate(0.5, 2.5, 0.05) } },
  'claude-haiku-4-5': rate(1, 5, 0.1),
  'claude-haiku-4-5-20251001': rate(1, 5, 0.1),
});

/** A model that runs on the user's own machine costs nothing: nobody sends a bill. */
const localPrice: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Price of a token that is kept for an hour, in those that are kept for five minutes (Anthropic: 2 and 1.25 fresh ones). */
const hourForFiveMinutes = 2 / 1.25;

/** The user's prices go before the built-in ones. */
export function priceOf(own: PriceTable, provider: string, model: string): Price | undefined {
  for (const table of [own, builtInPrices]) {
    for (const name of [`${provider}/${model}`, model]) if (Object.hasOwn(table, name)) return table[name];
  }
  return provider === 'ollama' && !isOllamaCloud(model) ? localPrice : undefined;
}

/** Null for a model without a price, for a part without one, and for a request that nobody has counted. */
export function costOf(price: Price | undefined, { input, output, cacheRead, cacheWrite, cacheWriteHour = 0 }: TokenUsage): number | null {
  if (price === localPrice) return 0;
  if (!price || input + output + cacheRead + cacheWrite === 0) return null;
  const isLong = price.above !== undefined && input + cacheRead + cacheWrite > price.above.tokens;
  const rate = isLong ? price.above! : price;
  const parts = [
    [input, rate.input],
    [output, rate.output],
    [cacheRead, rate.cacheRead],
    [cacheWrite - cacheWriteHour, rate.cacheWrite],
    [cacheWriteHour, rate.cacheWriteHour ?? (rate.cacheWrite === undefined ? undefined : rate.cacheWrite * hourForFiveMinutes)],
  ] as const;
  let cost = 0;
  for (const [tokens, dollarsPerMillion] of parts) {
    if (tokens === 0) continue;
    if (dollarsPerMillion === undefined) return null;
    cost += (tokens * dollarsPerMillion) / 1_000_000;
  }
  return cost;
}

/** `$2 in, $10 out per million tokens` */
export function priceText(price: Price): string {
  if (price === localPrice) return t('local, no price');
  const { input, output, above } = price;
  return above
    ? t('${0} in, ${1} out per million tokens, more above {2}', input, output, wholeNumber(above.tokens))
    : t('${0} in, ${1} out per million tokens', input, output);
}

/** How many times as much as another a model costs, in the part that differs most; null when that is not more. */
export function timesDearer(price: Price, than: Price): number | null {
  const ratios = [
    [price.input, than.input],
    [price.output, than.output],
  ].map(([one, other]) => (one === other ? 1 : one! / other!));
  const most = Math.max(...ratios);
  return most > 1 ? most : null;
}

/** Writing to the cache costs a quarter more than reading uncached for five minutes, and twice as much for an hour. */
function rate(input: number, output: number, cacheRead: number) {
  return { input, output, cacheRead, cacheWrite: input * 1.25, cacheWriteHour: input * 2 };
}

/** The same names at another address are sold by somebody else. */
function anthropic(models: Readonly<Record<string, Price>>): PriceTable {
  return Object.fromEntries(Object.entries(models).map(([id, price]) => [`anthropic/${id}`, price]));
}

/** `gpt-oss:120b-cloud`, `kimi-k2:cloud`: a local Ollama passes these on to ollama.com, which is paid for. */
function isOllamaCloud(model: string): boolean {
  return /[:-]cloud$/.test(model);
}
