/** When nothing has been asked of the store for this long, it works on its index. */
const idleMs = 250;
/** Between two batches, for what has arrived in the meantime. */
const gapMs = 5;
/** How long a call that arrives in mid-batch waits at most, commit aside. */
const batchMs = 15;
/**
 * Fewer entries than these are left to wait: a search reads them as they are, while indexing one message by itself would write
 * more pages than storing it did.
 */
const minPending = 64;

export interface Indexable {
  readonly pending: number;
  /** Returns whether there may be more. */
  indexBatch(budgetMs: number): boolean;
}

/** Brings the full-text index up to date while the store is idle. Never keeps the process alive. */
export class IdleIndexer {
  private timer: NodeJS.Timeout | undefined;
  private running = false;

  constructor(
    private readonly target: Indexable,
    private readonly onError: (error: unknown) => void,
    private readonly delays: { readonly idleMs: number; readonly gapMs: number } = { idleMs, gapMs },
  ) {
    this.touch();
  }

  /** The store is in use: what was planned waits until it no longer is. */
  touch(): void {
    this.plan(this.delays.idleMs);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private plan(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.step(), ms);
    this.timer.unref();
  }

  private step(): void {
    try {
      if (!this.running && this.target.pending < minPending) return;
      this.running = this.target.indexBatch(batchMs);
      if (this.running) this.plan(this.delays.gapMs);
    } catch (error) {
      // Tried again after the next call, not before: a full disk does not get better by writing.
      this.running = false;
      this.onError(error);
    }
  }
}
