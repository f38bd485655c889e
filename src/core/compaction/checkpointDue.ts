import { contextExclusionOf } from '../session/contextExclusion';
import type { EntryOf, StoredEntry } from '../session/entry';
import { cycleEntries } from '../session/liveCompaction';
import { isUserMessage } from './cutPoint';

export interface CheckpointRule {
  /** In tokens. */
  readonly thresholds: readonly number[];
  /** 0 = only thresholds count. */
  readonly everyUserTurns: number;
  readonly minTokens: number;
}

/** Whether a checkpoint should be written after this turn: a threshold was crossed, or enough was said, since the last one of this cycle. */
export function checkpointDue(entries: readonly StoredEntry[], checkpoints: readonly EntryOf<'checkpoint'>[], used: number, rule: CheckpointRule): boolean {
  if (used < rule.minTokens) return false;
  const cycle = cycleEntries(entries);
  const last = newestOnBranch(cycle, checkpoints);
  const since = last ? cycle.slice(cycle.findIndex(({ uuid }) => uuid === last.content.coversThrough) + 1) : cycle;
  const turns = since.filter(isUserMessage).length;
  if (turns === 0) return false;
  const at = last?.content.tokensAtCheckpoint ?? 0;
  return rule.thresholds.some((tokens) => tokens > at && used >= tokens) || (rule.everyUserTurns > 0 && turns >= rule.everyUserTurns);
}

/** The newest checkpoint whose range ends on one of these entries. */
export function newestOnBranch(entries: readonly StoredEntry[], checkpoints: readonly EntryOf<'checkpoint'>[]): EntryOf<'checkpoint'> | null {
  const order = new Map(entries.map((entry, index) => [entry.uuid, index]));
  let best: EntryOf<'checkpoint'> | null = null;
  let bestAt = -1;
  for (const checkpoint of checkpoints) {
    const at = order.get(checkpoint.content.coversThrough) ?? -1;
    if (at >= bestAt && at !== -1) [best, bestAt] = [checkpoint, at];
  }
  return best;
}

/**
 * Without those that tell of what the user has taken out since, or know nothing of what was put back: whoever folded by them would
 * bring the one into the prompt again, and lose the other.
 */
export function soundCheckpoints(entries: readonly StoredEntry[], checkpoints: readonly EntryOf<'checkpoint'>[]): readonly EntryOf<'checkpoint'>[] {
  const marks = entries.flatMap((entry) => {
    const exclusion = contextExclusionOf(entry);
    return exclusion ? [{ seq: entry.seq, changed: exclusion.entries }] : [];
  });
  if (marks.length === 0) return checkpoints;
  const order = new Map(entries.map(({ uuid }, index) => [uuid, index]));
  return checkpoints.filter(({ seq, content }) => {
    const end = order.get(content.coversThrough) ?? -1;
    return !marks.some((mark) => mark.seq > seq && mark.changed.some((uuid) => (order.get(uuid) ?? Infinity) <= end));
  });
}
