import type { StoredEntry } from '../session/entry';
import type { Session } from '../session/session';
import type { UsageRecord } from '../cost/usageRecord';

/** The part of a branch that the projection can reach, root side first. */
export interface LiveBranch {
  readonly session: Session;
  /**
   * From the first kept entry of the newest compaction that is neither undone nor superseded (or from the root when there is
   * none) up to the leaf; the compaction entry itself stands among them where it was appended.
   */
  readonly entries: readonly StoredEntry[];
  /** The newest usage of kind `turn` or `count` that was reported for one of `entries`. */
  readonly lastUsage: UsageRecord | null;
  /** Of the session, always the same: what marks the frames of its prompt (core/frames/frames.ts). Nobody else may learn it. */
  readonly seal: string;
}
