import type { CacheState } from '../context/measure/snapshot';
import { errorText } from '../errors';
import type { Clock, Disposable, Logger } from '../ports';
import type { SummaryJob } from './summary/summaryJob';

export interface CacheWatchDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly cache: () => CacheState;
  /** Nothing runs or waits here, no other window works in the session, and what is written can be stored. */
  readonly isIdle: () => boolean;
  /** The last request was made here, as opposed to another window. */
  readonly isOwn: () => boolean;
  /** Fewer tokens written again are not worth a summary. */
  readonly leastTokens: () => number;
  /** Automatic compaction is on. */
  readonly folds: () => boolean;
  /** Makes what is stored usable here. Must not reject. */
  readonly recall: () => Promise<void>;
  /** Reads of the session what has only been outlined. */
  readonly readAll: () => Promise<void>;
  readonly prepare: () => SummaryJob | null;
  /** What the user is shown of the cache may be another now. */
  readonly tell: () => void;
}

/**
 * How long before the cache expires the summary is asked for. The window that was used last asks first; the others only if it has not
 * stored one by then, because it was closed or its machine sleeps.
 */
const leadMs = { own: 60_000, other: 35_000 };
/** The request has to have arrived before the cache expires. */
const leastLeadMs = 15_000;
/** Timers stand still while a machine sleeps, and clocks are set: so often the clock itself is looked at. */
const longestWaitMs = 30_000;

/**
 * Looks after the prompt cache of a session in which nothing runs.
 *
 *   resting ──became idle, opened, changed; the cache is warm──▶ waiting ──shortly before it expires──▶ preparing
 *    ▲  ▲                                                         │   ▲                                    │
 *    │  └──────────── expired (told), or not known ───────────────┘   └── written: the time began anew ────┘
 *    └─ a turn begins, closed: from any state; what is being prepared goes on
 *
 * The clock is asked anew at every step, so that a machine that slept, a clock that was set and another window's turn are all the same
 * to it. A cache is prepared for once: a failure is not repeated before the next request has renewed it.
 */
export class CacheWatch {
  private timer: Disposable | null = null;
  private closed = false;
  /** The expiry that a summary was begun for, or found not to be worth one. */
  private triedFor: number | null = null;
  private asked: number | null = null;

  constructor(private readonly deps: CacheWatchDeps) {}

  /** Since when a summary is being written that goes on from the cached prompt; null when none is, or its usage tells. */
  get askedAt(): number | null {
    return this.asked;
  }

  /** Something has changed, or some time has passed. */
  look(): void {
    this.timer?.dispose();
    this.timer = null;
    if (this.closed || !this.deps.isIdle()) return;
    const { clock, cache, tell } = this.deps;
    const { state, until, whenCold, held } = cache();
    tell();
    if (state !== 'warm' || until === null) return;
    const now = clock.now();
    const wants = whenCold !== 'keep' && this.deps.folds() && held >= this.deps.leastTokens() && this.triedFor !== until;
    const due = until - (this.deps.isOwn() ? leadMs.own : leadMs.other);
    if (wants && now >= due) {
      this.triedFor = until;
      if (until - now >= leastLeadMs) void this.prepare(until);
    }
    const next = wants && now < due ? due : until;
    this.timer = clock.after(Math.min(longestWaitMs, Math.max(1, next - now)), () => this.look());
  }

  close(): void {
    this.closed = true;
    this.timer?.dispose();
  }

  private async prepare(until: number): Promise<void> {
    const { clock, log, recall, prepare, isIdle } = this.deps;
    await recall();
    try {
      await this.deps.readAll();
      if (this.closed) return;
      if (!isIdle()) {
        // Something short has come in between: once it has ended there is time for another try.
        if (this.triedFor === until) this.triedFor = null;
        return;
      }
      const asked = clock.now();
      const job = prepare();
      if (!job) return;
      this.asked = asked;
      await job.stored.finally(() => (this.asked = null));
      if (job.failure !== null) log.info('summary_not_prepared', { detail: job.failure });
      this.look();
    } catch (error) {
      log.warn('summary_not_prepared', { detail: errorText(error) });
    }
  }
}
