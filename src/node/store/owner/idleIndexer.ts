import { IdleTask, type IdleDelays } from './idleTask';

const delays: IdleDelays = { idleMs: 250, gapMs: 5, stepMs: 15 };
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

/** Brings the full-text index up to date while the store is idle. */
export function indexWhenIdle(index: Indexable, onError: (error: unknown) => void): IdleTask {
  return new IdleTask({ isDue: () => index.pending >= minPending, step: (budgetMs) => index.indexBatch(budgetMs) }, onError, delays);
}
