import { contextExclusionOf } from '../../context/contextExclusion';
import { isUserMessage, type EntryOf, type StoredEntry } from '../../session/entry';
import { cycleEntries, liveCompaction } from '../../session/liveCompaction';

export interface CheckpointRule {
  /** In tokens, ascending. */
  readonly thresholds: readonly number[];
  /** 0 = only thresholds count. */
  readonly everyUserTurns: number;
  readonly minTokens: number;
}

/**
 * Whether a checkpoint should be written after this turn: a threshold was crossed, or enough was said, since the last one of this cycle.
 */
export function checkpointDue(
  entries: readonly StoredEntry[],
  checkpoints: readonly EntryOf<'checkpoint'>[],
  used: number,
  rule: CheckpointRule,
): boolean {
  const { thresholds, everyUserTurns, minTokens } = rule;
  if (used < minTokens) return false;
  const cycle = cycleEntries(entries);
  const last = newestOnBranch(cycle, checkpoints);
  const since = last ? cycle.slice(cycle.findIndex(({ uuid }) => uuid === last.content.coversThrough) + 1) : cycle;
  const turns = since.filter(isUserMessage).length;
  if (turns === 0) return false;
  const at = last?.content.tokensAtCheckpoint ?? 0;
  // In a small window a compaction may leave more than the first thresholds: what it folded is told by its summary.
  const left = last ? 0 : (liveCompaction(entries)?.content.tokensAfter ?? 0);
  return thresholds.some((tokens) => used >= tokens && tokens > left && at < tokens) || (everyUserTurns > 0 && turns >= everyUserTurns);
}

/** The newest checkpoint whose range ends on one of these entries. */
export function newestOnBranch(
  entries: readonly StoredEntry[],
  checkpoints: readonly EntryOf<'checkpoint'>[],
): EntryOf<'checkpoint'> | null {
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
 * Without those that tell of what the user has taken out since they were begun, or know nothing of what was put back: whoever folded by
 * them would bring the one into the prompt again, and lose the other. What one knew of is its parent, and not its own place: while
 * it was written another window may have appended. A parent on another branch may have known what was taken out only there.
 */
export function soundCheckpoints(
  entries: readonly StoredEntry[],
  checkpoints: readonly EntryOf<'checkpoint'>[],
): readonly EntryOf<'checkpoint'>[] {
  const order = new Map(entries.map(({ uuid }, index) => [uuid, index]));
  const marks = entries.flatMap((entry, at) => {
    const exclusion = contextExclusionOf(entry);
    return exclusion ? [{ at, changed: exclusion.entries }] : [];
  });
  // The state that a snapshot took over may have been another since: undone, or put into other words before or after it was applied.
  const restated = entries.findLastIndex(
    ({ content }) =>
      content.type === 'compaction_undone' || (content.type === 'compaction' && Boolean(content.supersedes ?? content.edited)),
  );
  return checkpoints.filter(({ parent, content }) => {
    const end = order.get(content.coversThrough) ?? -1;
    const knew = parent === null ? end : order.get(parent);
    return (
      knew !== undefined &&
      restated <= knew &&
      !marks.some((mark) => mark.at > knew && mark.changed.some((uuid) => (order.get(uuid) ?? Infinity) <= end))
    );
  });
}
