import { CancelledError } from '../../../src/core/errors';
import type { Clock, Disposable } from '../../../src/core/ports';

/**
 * A clock on the wall and a stopwatch, as a machine has them: timers go by the stopwatch, which stands still while the machine sleeps. What
 * sleeps on it is woken at once, with the time gone by.
 */
export class WeekClock implements Clock {
  private elapsed = 0;
  private skew = Date.UTC(2026, 10, 22, 8);
  private waiting: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.elapsed + this.skew;
  }

  get timers(): number {
    return this.waiting.length;
  }

  /** Time goes by for everybody, and what is due runs in its order. */
  pass(ms: number): void {
    const end = this.elapsed + ms;
    for (;;) {
      const due = this.waiting.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.waiting = this.waiting.filter((timer) => timer !== due);
      this.elapsed = Math.max(this.elapsed, due.at);
      due.run();
    }
    this.elapsed = Math.max(this.elapsed, end);
  }

  /** The clock is set, or the machine has slept: no timer notices. */
  jump(ms: number): void {
    this.skew += ms;
  }

  after(ms: number, run: () => void): Disposable {
    const timer = { at: this.elapsed + ms, run };
    this.waiting.push(timer);
    return { dispose: () => (this.waiting = this.waiting.filter((one) => one !== timer)) };
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw new CancelledError();
    this.elapsed += ms;
    await Promise.resolve();
  }
}
