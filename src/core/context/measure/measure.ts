import type { UsageRecord } from '../../cost/usage';
import { isUserMessage, type StoredEntry } from '../../session/entry';
import { afterLastBreak } from '../../session/liveCompaction';
import { countSent } from '../../compaction/ladder/cutPoint';
import type { NudgeStatus } from '../../memory/nudges';
import type { Policy } from '../policy/policy';
import type { Budget } from './budget';
import type { Projection } from '../projection/projection';
import { segmentKinds, type CacheState, type ContextSnapshot, type SegmentKind } from './snapshot';

/** Everything the size of a context depends on. */
export interface MeasureInput {
  readonly entries: readonly StoredEntry[];
  readonly projection: Projection;
  readonly lastUsage: UsageRecord | null;
  /** `provider/model` of the next request; an anchor of another model is no measurement of it. */
  readonly provider: string;
  readonly model: string;
  /** Learned: provider tokens per token of our own count. */
  readonly factor: number;
  readonly estimate: (text: string) => number;
}

export interface Measurement {
  readonly used: number;
  /** Whether the provider has measured this prompt or the beginning of it. */
  readonly anchored: boolean;
  readonly exact: boolean;
  /** Tokens of `used` for one of our own count. */
  readonly scale: number;
  readonly segments: Readonly<Record<Exclude<SegmentKind, 'draft' | 'reserved'>, number>>;
}

/**
 * used = anchor + factor × own count of what was added since, where the anchor is the provider's last report (input + cache
 * writes + cache reads + output). Without a usable anchor (none yet, another model, a prefix break since): factor × own count.
 */
export function measure(input: MeasureInput): Measurement {
  const { projection, factor } = input;
  const raw = { system: input.estimate(projection.system), tools: 0, memory: 0, summary: 0, history: 0, toolResults: 0 };
  for (const tool of projection.tools) raw.tools += input.estimate(JSON.stringify(tool)) + 8;
  for (const piece of projection.pieces) raw[piece.segment as keyof typeof raw] += piece.tokens;
  const total = Object.values(raw).reduce((sum, tokens) => sum + tokens, 0);

  const anchor = anchorOf(input);
  const added = anchor ? addedSince(input, anchor) : 0;
  const used = anchor ? anchor.tokens + factor * added : factor * total;
  const scale = total > 0 ? used / total : 1;
  const segments = Object.fromEntries(
    Object.entries(raw).map(([kind, tokens]) => [kind, Math.round(tokens * scale)]),
  ) as Measurement['segments'];
  return { used: Math.round(used), anchored: anchor !== null, exact: anchor?.billed === true && added === 0, scale, segments };
}

interface Anchor {
  readonly tokens: number;
  readonly index: number;
  /** What was billed for a prompt, as opposed to what the provider expects of one. */
  readonly billed: boolean;
}

function anchorOf({ entries, lastUsage, provider, model }: MeasureInput): Anchor | null {
  if (!lastUsage || lastUsage.provider !== provider || lastUsage.model !== model) return null;
  const index = entries.findIndex((entry) => entry.uuid === lastUsage.entry);
  const billed = lastUsage.kind === 'turn';
  // A count was made of the branch as it stood with that entry; a break that is the entry itself is part of it.
  if (index === -1 || index < afterLastBreak(entries) - (billed ? 0 : 1)) return null;
  return { tokens: lastUsage.input + lastUsage.cacheRead + lastUsage.cacheWrite + lastUsage.output, index, billed };
}

function addedSince({ entries, projection }: MeasureInput, anchor: Anchor): number {
  const covered = new Set(entries.slice(0, anchor.index + 1).map((entry) => entry.uuid));
  return projection.pieces
    .filter((piece) => piece.entryId !== null && !covered.has(piece.entryId))
    .reduce((sum, piece) => sum + piece.tokens, 0);
}

export interface SnapshotInput {
  readonly sessionId: string;
  readonly provider: string;
  readonly model: string;
  readonly policy: Policy;
  readonly budget: Budget;
  readonly entries: readonly StoredEntry[];
  readonly measurement: Measurement;
  readonly nudges: readonly NudgeStatus[];
  /** Calibrated tokens of what is streaming right now. */
  readonly liveTokens: number;
  /** Calibrated tokens of the text in the composer. */
  readonly draftTokens: number;
  readonly turnsLeft: number | null;
  /** The next message is one more than the policy lets stand. */
  readonly isDueByMessages: boolean;
  /** So many compactions stand behind the prompt. */
  readonly compactions: number;
  readonly cache: CacheState;
  readonly summarizing: boolean;
  readonly now: number;
}

/** Assembles the one object that every surface shows. */
export function toSnapshot(input: SnapshotInput): ContextSnapshot {
  const { budget, measurement, policy } = input;
  const used = Math.round(measurement.used + input.liveTokens + input.draftTokens);
  const percent = (tokens: number) => Math.round((tokens / budget.effective) * 1000) / 10;
  const compaction = {
    kind: 'compaction' as const,
    percent: percent(budget.trigger),
    tokens: budget.trigger,
    state: !policy.compaction.enabled
      ? ('off' as const)
      : used >= budget.trigger || input.isDueByMessages
        ? ('due' as const)
        : ('ahead' as const),
  };
  const thresholds: ContextSnapshot['thresholds'] = [
    ...input.nudges.map(({ point, state }) => ({ kind: 'nudge' as const, percent: point.percent, tokens: point.tokens, state })),
    compaction,
    { kind: 'limit', percent: percent(budget.limit), tokens: budget.limit, state: used >= budget.limit ? 'due' : 'ahead' },
  ];
  const next = thresholds.filter((threshold) => threshold.state === 'ahead').sort((a, b) => a.tokens - b.tokens)[0];
  const tokensOf: Record<SegmentKind, number> = {
    ...measurement.segments,
    history: measurement.segments.history + Math.round(input.liveTokens),
    draft: Math.round(input.draftTokens),
    reserved: Math.max(0, budget.effective - budget.limit),
  };
  return {
    sessionId: input.sessionId,
    branchLeafId: input.entries.at(-1)?.uuid ?? null,
    model: `${input.provider}/${input.model}`,
    policy: policy.name,
    window: budget.window,
    effective: budget.effective,
    reserve: budget.reserve,
    limit: budget.limit,
    used,
    provenance: measurement.exact && input.liveTokens === 0 && input.draftTokens === 0 ? 'exact' : 'estimated',
    segments: segmentKinds.map((kind) => ({ kind, tokens: tokensOf[kind] })),
    thresholds,
    nextEvent: next ? { kind: next.kind, inTokens: next.tokens - used } : null,
    turnsLeft: input.turnsLeft,
    compactions: input.compactions,
    cache: input.cache,
    summarizing: input.summarizing,
    updatedAt: input.now,
  };
}

/**
 * Turns until the next compaction (or the limit), from the mean growth of the last five user turns. Null before the second turn.
 */
export function forecastTurns(
  entries: readonly StoredEntry[],
  projection: Projection,
  used: number,
  target: number,
  factor: number,
): number | null {
  const recent = recentTurns(entries, projection);
  if (recent.length < 2) return null;
  const growth = (recent.reduce((sum, turn) => sum + turn, 0) / recent.length) * factor;
  return growth <= 0 ? null : Math.max(0, Math.floor((target - used) / growth));
}

/** The same where the policy lets so many messages stand. `sent`: what stands word for word, root side first. */
export function forecastByMessages(sent: readonly StoredEntry[], most: number): number | null {
  const turns = sent.flatMap((entry, index) => (isUserMessage(entry) ? [index] : [])).slice(-5);
  if (turns.length < 2) return null;
  const growth = countSent(sent.slice(turns[0])) / turns.length;
  return Math.max(0, Math.floor((most - countSent(sent)) / growth));
}

/** Own tokens of each of the last user turns as they stand in the prompt, oldest first. */
export function recentTurns(entries: readonly StoredEntry[], projection: Projection): readonly number[] {
  const tokens = new Map<string, number>();
  for (const piece of projection.pieces)
    if (piece.entryId && piece.segment !== 'summary') tokens.set(piece.entryId, (tokens.get(piece.entryId) ?? 0) + piece.tokens);
  const turns: number[] = [];
  for (const entry of entries) {
    if (isUserMessage(entry) && tokens.has(entry.uuid)) turns.push(0);
    if (turns.length > 0) turns[turns.length - 1]! += tokens.get(entry.uuid) ?? 0;
  }
  return turns.slice(-5);
}

/** What an entry takes of the prompt. */
export interface EntrySize {
  readonly entry: string;
  readonly segment: SegmentKind;
  /** The scale is that of `ContextSnapshot.used`. */
  readonly tokens: number;
}

/** The entries that take most of the prompt, the largest first; an entry that is sent in several blocks is one. */
export function largestEntries({ pieces }: Projection, { scale }: Measurement, limit: number): EntrySize[] {
  const sizes = new Map<string, { segment: SegmentKind; tokens: number }>();
  for (const { entryId, segment, tokens } of pieces) {
    if (entryId === null) continue;
    const known = sizes.get(entryId);
    if (known) known.tokens += tokens;
    else sizes.set(entryId, { segment, tokens });
  }
  return [...sizes]
    .sort(([, a], [, b]) => b.tokens - a.tokens)
    .slice(0, limit)
    .map(([entry, { segment, tokens }]) => ({ entry, segment, tokens: Math.round(tokens * scale) }));
}
