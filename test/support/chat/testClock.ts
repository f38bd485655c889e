import { CancelledError } from '../../../src/core/errors';
import type { Clock, Disposable } from '../../../src/core/ports';

/** Time that only moves when somebody sleeps or lets it pass: every sleep ends at once and is remembered. */
export class TestClock implements Clock {
  readonly slept: number[] = [];
  private time = Date.UTC(2026, 10, 22, 12);

  private waiting: { readonly at: number; readonly run: () => void }[] = [];

  /** Timers that wait. */
  get timers(): number {
    return this.waiting.length;
  }

  /** Timers fire only here. */
  pass(ms: number): void {
    this.time += ms;
    const due = this.waiting.filter(({ at }) => at <= this.time);
    this.waiting = this.waiting.filter((timer) => !due.includes(timer));
    for (const { run } of due) run();
  }

  after(ms: number, run: () => void): Disposable {
    const timer = { at: this.time + ms, run };
    this.waiting.push(timer);
    return { dispose: () => (this.waiting = this.waiting.filter((one) => one !== timer)) };
  }

  now(): number {
    return this.time;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) throw new CancelledError();
    this.slept.push(ms);
    this.time += ms;
    await Promise.resolve();
  }
}
