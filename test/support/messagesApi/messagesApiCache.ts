import { prefixHashes } from './messagesApiPrefix';
import type { Part } from './messagesApiTokens';
import { isRecord, type CacheTime, type DoubleModel, type WireUsage } from './messagesApiWire';

/** How far back from a breakpoint the provider looks for something it has cached; the breakpoint is the first of these places. */
const lookBack = 20;

/** How long what is written stays, counted from the last time that it was read. */
const lifetimes: Readonly<Record<CacheTime, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

/** A marked prefix. What it has beyond the prefix that it was written behind was paid for with `time`, and lives that long. */
interface Entry {
  readonly behind: Entry | null;
  readonly time: CacheTime;
  usedAt: number;
}

/** Null: not asked for. Anything but an hour is five minutes, as the provider has it. */
export function cacheTimeOf(mark: unknown): CacheTime | null {
  if (!isRecord(mark)) return null;
  return mark['ttl'] === '1h' ? '1h' : '5m';
}

/**
 * What the provider has cached, by model and prefix. A prefix stands on the shorter one that it was written behind: it is read only
 * while each part of it lives, and reading renews all of them for the time that was paid for each. So a prefix that was written for
 * five minutes stays one of five minutes, whatever a later mark on it asks for, and what has expired is written again.
 */
export class PrefixCache {
  private readonly entries = new Map<string, Entry>();

  /** Splits the tokens of a prompt into read, written and plain ones, and remembers the marked prefixes. */
  use(
    model: DoubleModel,
    parts: readonly Part[],
    cacheAll: CacheTime | null,
    total: number,
    now: number,
  ): Omit<WireUsage, 'output_tokens'> {
    const hashes = prefixHashes(parts);
    const sizes = [total - parts.reduce((sum, { tokens }) => sum + tokens, 0)];
    for (const { tokens } of parts) sizes.push((sizes.at(-1) ?? 0) + tokens);
    const size = (end: number) => sizes[end] ?? 0;
    const key = (end: number) => `${model.id} ${hashes[end]}`;
    const living = (end: number) => {
      const entry = this.entries.get(key(end));
      return entry && isAlive(entry, now) ? entry : undefined;
    };

    const marks = parts.flatMap(({ block }, index) => {
      const time = cacheTimeOf(block['cache_control']);
      return time ? [{ end: index + 1, time }] : [];
    });
    if (cacheAll && parts.length > 0 && marks.at(-1)?.end !== parts.length) marks.push({ end: parts.length, time: cacheAll });
    const used = marks.filter(({ end }) => size(end) >= model.minCacheTokens);

    let hit = 0;
    for (const { end } of used) {
      const at = Array.from({ length: Math.min(lookBack, end) }, (_, back) => end - back).find((place) => living(place));
      if (at === undefined) continue;
      renew(living(at)!, now);
      if (size(at) > size(hit)) hit = at;
    }
    const read = hit === 0 ? 0 : size(hit);
    const written: Record<CacheTime, number> = { '5m': 0, '1h': 0 };
    let behind = living(hit) ?? null;
    let through = read;
    for (const { end, time } of used) {
      if (end <= hit) continue;
      written[time] += size(end) - through;
      through = size(end);
      behind = { behind, time, usedAt: now };
      this.entries.set(key(end), behind);
    }
    return {
      input_tokens: total - through,
      cache_creation_input_tokens: written['5m'] + written['1h'],
      cache_read_input_tokens: read,
      cache_creation: { ephemeral_5m_input_tokens: written['5m'], ephemeral_1h_input_tokens: written['1h'] },
    };
  }
}

function isAlive(entry: Entry, now: number): boolean {
  for (let one: Entry | null = entry; one; one = one.behind) if (now - one.usedAt >= lifetimes[one.time]) return false;
  return true;
}

function renew(entry: Entry, now: number): void {
  for (let one: Entry | null = entry; one; one = one.behind) one.usedAt = now;
}
