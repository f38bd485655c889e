import { leastSaving } from '../context/measure/budget';
import type { CacheState, CacheTime, MessagePrice } from '../context/measure/snapshot';
import { unknownCache } from '../context/measure/snapshot';
import type { TokenUsage } from '../models/modelEvent';
import type { CacheRules } from '../models/modelInfo';
import { afterLastBreak } from '../session/liveCompaction';
import type { StoredEntry } from '../session/entry';
import type { UsageRecord } from './usage';

export const cacheMs: Readonly<Record<CacheTime, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

export interface CacheInput {
  readonly now: number;
  /** Null: nobody knows how the provider caches. */
  readonly rules: CacheRules | null;
  readonly provider: string;
  readonly model: string;
  /** The live branch, root side first. */
  readonly entries: readonly StoredEntry[];
  /** The newest requests of the session in the order in which they were recorded: a clock may have been set meanwhile. */
  readonly requests: readonly UsageRecord[];
  /** What is paid for where nothing is held: what is held was paid for already. */
  readonly time: CacheTime;
  /** Tokens of the next request, the draft included. */
  readonly used: number;
  /** Tokens of its system text and tools: they stay held through most prefix breaks. */
  readonly head: number;
  /** A summary that goes on from the cached prompt is being written since then: the provider has read the prompt for it. */
  readonly askedAt: number | null;
  /** Tokens of the next request with the prepared summary in it; null without one. */
  readonly folded: number | null;
  /** The same where the next request is compacted because the context is full. */
  readonly full: number | null;
  readonly whenCold: CacheState['whenCold'];
  /** Fewer written again are not worth anything. */
  readonly leastTokens: number;
  /** Dollars; null where no price is known. */
  readonly costOf: (usage: TokenUsage) => number | null;
}

/** A request's time is told by a clock that other windows, too, write with: so much may they differ. */
const clockSlack = 2_000;

/**
 * What the provider has of the next prompt. Derived, whenever somebody asks, from the clock and from what the provider has reported
 * of the last requests: so it is the same right after a reload, in every window, and after a machine has slept.
 *
 *            ┌────────── a request reads it: a turn's, or a summary's that goes on from the prompt; its time begins anew ─┐
 *            ▼                                                                                                          │
 *   cold ──request──▶ warm ──its time passes──▶ cold                                                                    │
 *    ▲                 │ └──────────────────────────────────────────────────────────────────────────────────────────────┘
 *    │                 ├─prefix break (compaction, undo, exclusion, …)──▶ warm, of system text and tools alone
 *    └─────────────────┴─other model, instructions or tools──▶ cold, and nothing is held
 *   unknown: no rules for this provider; usage that tells of no cache although the prompt was long enough; the last request lies
 *   ahead of the clock, which has been set back since. The next request that is reported ends it.
 */
export function cacheState(input: CacheInput): CacheState {
  const { rules, now, used, whenCold } = input;
  if (!rules) return { ...unknownCache, whenCold };
  const kept = keptOf(input);
  if (kept === 'uncached' || (kept && kept.at > now + clockSlack)) return { ...unknownCache, whenCold };
  const until = kept && kept.at + cacheMs[kept.time];
  const isWarm = until !== null && now < until;
  const time = kept && isWarm ? kept.time : input.time;
  const could = Math.min(kept?.tokens ?? 0, used);
  const held = isWarm ? could : 0;
  const rewrites = isWarm ? 0 : kept?.isWhole ? could : used;
  const isNew = !kept && input.requests.length === 0;
  const matters = !isWarm && !isNew && rewrites >= input.leastTokens;
  const price = (read: number, all: number): MessagePrice => {
    const rest = Math.max(0, all - read);
    const isKept = all >= Math.min(rules.leastTokens, kept?.prompt ?? Infinity) || read > 0;
    const [written, fresh] = isKept ? [rest, 0] : [0, rest];
    const hour = time === '1h' ? { cacheWriteHour: written } : {};
    const cost = input.costOf({ input: fresh, output: 0, cacheRead: read, cacheWrite: written, ...hour });
    return { read, written, fresh, cost };
  };
  const folded = input.folded === null ? null : price(0, input.folded);
  // System text and tools stay held through a compaction.
  const full = input.full === null ? null : price(isWarm ? Math.min(input.head, held) : 0, input.full);
  const pays = input.folded !== null && input.folded <= used * (1 - leastSaving);
  const folds = !isWarm && pays && matters && whenCold === 'fold';
  return {
    state: isWarm ? 'warm' : 'cold',
    until,
    time,
    held,
    rewrites: isNew ? 0 : rewrites,
    matters,
    whenCold,
    prepared: folded !== null,
    next: {
      expects: folds ? 'folded' : full ? 'full' : isWarm ? 'warm' : 'cold',
      warm: price(could, used),
      cold: price(0, used),
      folded,
      full,
    },
  };
}

interface Kept {
  readonly tokens: number;
  /** The shortest prompt that is known to have been kept; one that is no shorter is kept, too. */
  readonly prompt: number;
  /** When it was last read or written. */
  readonly at: number;
  /** What was paid for. */
  readonly time: CacheTime;
  /** All of the last prompt, as opposed to its head. */
  readonly isWhole: boolean;
}

/** What the cache was left with; null when this model has been asked nothing, `uncached` when it keeps nothing. */
function keptOf({ entries, requests, provider, model, head, rules, askedAt }: CacheInput): Kept | 'uncached' | null {
  const places = new Map(entries.map(({ uuid }, index) => [uuid, index]));
  // Claude says what it has read and written when it begins: of an answer that was stopped only the words are a guess.
  const isTold = ({ estimated, cacheRead, cacheWrite }: UsageRecord) => !estimated || cacheRead + cacheWrite > 0;
  const own = requests.filter((one) => one.provider === provider && one.model === model && isTold(one) && one.kind !== 'count');
  const lastIndex = own.findLastIndex(({ kind, entry }) => kind !== 'compaction' && places.has(entry));
  const last = own[lastIndex];
  if (!last) return null;
  const asked = last.cacheRead + last.cacheWrite;
  if (asked === 0) return last.input > rules!.leastTokens ? 'uncached' : null;
  const place = places.get(last.entry)!;
  const later = entries.slice(place + 1);
  if (later.some(({ content: { type } }) => type === 'instructions_change' || type === 'tools_change')) return null;
  const isWhole = place >= afterLastBreak(entries);
  // A transcript for a summariser reads little or nothing of the conversation's prompt. What goes on from that may write the last answer.
  const readings = own.slice(lastIndex + 1).filter(({ kind, cacheRead }) => kind === 'compaction' && cacheRead >= asked / 2);
  const tokens = Math.max(asked, ...readings.map(({ cacheRead, cacheWrite }) => cacheRead + cacheWrite));
  const at = Math.max(last.at, askedAt ?? 0, ...readings.map((one) => one.at));
  // What a request has only read was paid for before.
  const paid = own.findLast(({ kind, cacheWrite }) => kind !== 'compaction' && cacheWrite > 0);
  const time = paid?.cacheWriteHour ? '1h' : '5m';
  const keptOnce = own.map(({ cacheRead, cacheWrite }) => cacheRead + cacheWrite).filter((one) => one > 0);
  return { tokens: isWhole ? tokens : Math.min(head, tokens), prompt: Math.min(...keptOnce), at, time, isWhole };
}
