import type { StoredEntry } from '../session/entry';
import { liveCompaction } from '../session/liveCompaction';

/** After an undo or a compaction that did not help, automatic compaction waits until the context has grown by this much. */
const rearmGrowth = 1.05;
/** So many in a row that did not help, and automatic compaction stops. */
const mostIneffective = 2;

/**
 * Keeps automatic compaction from going in circles.
 *
 *   armed ──did not help──▶ waiting for 5 % growth ──again──▶ stopped ──a compaction that helps, or the user's own──▶ armed
 */
export class CompactionGuard {
  private count = 0;
  private at = 0;
  private told = false;

  get isStopped(): boolean {
    return this.count >= mostIneffective;
  }

  /** True once per stop. */
  get shouldTell(): boolean {
    return this.isStopped && !this.told && (this.told = true);
  }

  /** Whether an automatic compaction has to wait although it is due; nothing waits that could not be sent otherwise. */
  holds(entries: readonly StoredEntry[], used: number, limit: number): boolean {
    if (used > limit) return false;
    const from = Math.max(this.at, undoneAt(entries));
    return this.isStopped || (from > 0 && used < from * rearmGrowth);
  }

  /** The user wants it to wait. */
  postponed(used: number): void {
    this.at = used;
  }

  helped(): void {
    [this.count, this.at, this.told] = [0, 0, false];
  }

  failed(used: number): void {
    this.count++;
    this.at = used;
  }
}

/** Size that an undo restored, when no compaction has been made since. */
function undoneAt(entries: readonly StoredEntry[]): number {
  const live = liveCompaction(entries);
  for (let i = entries.length - 1; i >= 0; i--) {
    const { content, uuid } = entries[i]!;
    if (uuid === live?.uuid) return 0;
    if (content.type === 'compaction_undone') return content.tokensRestored;
  }
  return 0;
}
