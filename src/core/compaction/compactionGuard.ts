import type { Budget } from '../context/measure/budget';
import type { StoredEntry } from '../session/entry';
import { liveCompaction } from '../session/liveCompaction';

/** After an undo or a compaction that did not help, automatic compaction waits until the context has grown by this much. */
const rearmGrowth = 1.05;
/** So many in a row that did not help, and automatic compaction stops. */
const mostIneffective = 2;

/**
 * Keeps automatic compaction from going in circles. Only what was made and did not help counts: a summariser that fails says nothing
 * about the next one.
 *
 *   armed ──did not help──▶ waiting for 5 % growth ──again──▶ stopped ──a compaction that helps, or the user's own──▶ armed
 */
export class CompactionGuard {
  private count = 0;
  /** Size at which the last one did not help. */
  private at = 0;
  /** Size at which the user wanted it to wait. */
  private postponedAt = 0;
  private told = false;

  get isStopped(): boolean {
    return this.count >= mostIneffective;
  }

  /** True once per stop. */
  get shouldTell(): boolean {
    return this.isStopped && !this.told && (this.told = true);
  }

  /**
   * Whether an automatic compaction has to wait although it is due. Above the hard limit only what the user has said is waited for,
   * and above the limit nothing is: it could not be sent.
   */
  holds(entries: readonly StoredEntry[], used: number, { limit, hardLimit }: Pick<Budget, 'limit' | 'hardLimit'>): boolean {
    const isWaiting = (from: number) => from > 0 && used < from * rearmGrowth;
    if (used > limit) return false;
    if (isWaiting(Math.max(this.postponedAt, undoneAt(entries)))) return true;
    return used <= hardLimit && (this.isStopped || isWaiting(this.at));
  }

  /** The user wants it to wait. */
  postponed(used: number): void {
    this.postponedAt = used;
  }

  helped(): void {
    [this.count, this.at, this.postponedAt, this.told] = [0, 0, 0, false];
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
