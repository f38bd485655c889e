/** Work that can wait, done in pieces. */
export interface IdleWork {
  /** Whether a round is worth beginning. */
  isDue(): boolean;
  /** Works for about `budgetMs`; returns whether there may be more. */
  step(budgetMs: number): boolean;
}

export interface IdleDelays {
  /** When nothing has been asked of the store for this long, the work begins. */
  readonly idleMs: number;
  /** Between two pieces, for what has arrived in the meantime. */
  readonly gapMs: number;
  /** How long a call that arrives in mid-piece waits at most. */
  readonly stepMs: number;
}

/** Works while the store is idle. Never keeps the process alive. */
export class IdleTask {
  private timer: NodeJS.Timeout | undefined;
  private running = false;

  constructor(
    private readonly work: IdleWork,
    private readonly onError: (error: unknown) => void,
    private readonly delays: IdleDelays,
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
      if (!this.running && !this.work.isDue()) return;
      this.running = this.work.step(this.delays.stepMs);
      if (this.running) this.plan(this.delays.gapMs);
    } catch (error) {
      // Tried again after the next call, not before: a full disk does not get better by writing.
      this.running = false;
      this.onError(error);
    }
  }
}
