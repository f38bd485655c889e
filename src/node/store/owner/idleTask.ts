import { english } from '../../../core/l10n';
import type { Connection } from '../database/connection';
import { verifyBodies, entryName } from '../repair/verifyContents';
import { isDamage } from '../repair/recoverStore';

/** Work that can wait, done in pieces. */
interface IdleWork {
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

const indexDelays: IdleDelays = { idleMs: 250, gapMs: 5, stepMs: 15 };

/**
 * Fewer entries than these are left to wait: a search reads them as they are, while indexing one message by itself would write
 * more pages than storing it did.
 */
const minPending = 64;

interface Indexable {
  readonly pending: number;
  /** Returns whether there may be more. */
  indexBatch(budgetMs: number): boolean;
}

/** Brings the full-text index up to date while the store is idle. */
export function indexWhenIdle(index: Indexable, onError: (error: unknown) => void): IdleTask {
  return new IdleTask({ isDue: () => index.pending >= minPending, step: (budgetMs) => index.indexBatch(budgetMs) }, onError, indexDelays);
}

/** 300 MB take about 1.5 s of work; at these delays they take a quarter of one core for that long four times over. */
const verifyDelays: IdleDelays = { idleMs: 2_000, gapMs: 25, stepMs: 8 };

interface IdleVerifierEvents {
  /** Once, when everything has been looked at, or when a page could not be read. What is wrong, in words; null when nothing is. */
  onDone(damage: string | null, entries: number): void;
  onError(error: unknown): void;
}

/** Compares every entry with its checksum while the store is idle, once. Opening does not: it would read the whole file. */
export function verifyWhenIdle(connection: Connection, { onDone, onError }: IdleVerifierEvents, pace: IdleDelays = verifyDelays): IdleTask {
  const damaged: number[] = [];
  const rows = verifyBodies(connection, (seq) => damaged.push(seq));
  let read = 0;
  let isDone = false;
  const finish = (damage: string | null) => {
    isDone = true;
    onDone(damage, read);
    return false;
  };
  const describe = () => {
    if (damaged.length === 0) return null;
    const first = entryName(connection, damaged[0]);
    return damaged.length === 1
      ? english('1 entry does not say what was written: {0}.', first)
      : english('{0} entries do not say what was written; the newest is {1}.', damaged.length, first);
  };
  const step = (budgetMs: number) => {
    const started = performance.now();
    try {
      do {
        const next = rows.next();
        if (next.done) return finish(describe());
        read = next.value;
      } while (performance.now() - started < budgetMs);
      return true;
    } catch (error) {
      if (!isDamage(error)) throw error;
      return finish(english('A part of it cannot be read: {0}.', error.message));
    }
  };
  return new IdleTask({ isDue: () => !isDone, step }, onError, pace);
}
