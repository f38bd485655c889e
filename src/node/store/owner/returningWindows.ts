import { setTimeout as sleep } from 'node:timers/promises';

/** Several hundred times what it takes them on a quiet machine. */
const turnMs = 100;
const turnsForAll = 30;
const turnsForUnknown = 10;

/**
 * The windows of an owner that has ended, on their way to the next one. What they hold is in their memory alone: until they are back it
 * must neither be given away nor taken for abandoned.
 */
export class ReturningWindows {
  private readonly missing: Set<string> | null;
  private readonly gathered = new AbortController();
  /** All are back, or there was time enough. Null when nobody is expected. */
  readonly done: Promise<void> | null;

  /** `expected`: their ids, or null where it is not known who they are. */
  constructor(expected: ReadonlySet<string> | null) {
    this.missing = expected && new Set(expected);
    this.done = expected?.size === 0 ? null : this.wait(expected ? turnsForAll : turnsForUnknown);
  }

  arrived(id: string | undefined): void {
    if (id === undefined || !this.missing?.delete(id)) return;
    if (this.missing.size === 0) this.gathered.abort();
  }

  /** Counted in turns and not by the clock: where this thread gets little of the processor, theirs do as well. */
  private async wait(turns: number): Promise<void> {
    const { signal } = this.gathered;
    const turn = () => sleep(turnMs, undefined, { ref: false, signal }).catch(() => undefined);
    for (let n = 0; n < turns && !signal.aborted; n++) await turn();
  }
}
