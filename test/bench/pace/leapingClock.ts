import { CancelledError } from '../../../src/core/errors';
import type { Clock, Disposable } from '../../../src/core/ports';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** The real time, which leaps ahead between two messages: three weeks pass in minutes, and what takes a second still takes one. */
export class LeapingClock implements Clock {
  private leapt: number;
  private timers: readonly Timer[] = [];
  private alarm: NodeJS.Timeout | undefined;

  constructor(start: number) {
    this.leapt = start - Date.now();
  }

  now(): number {
    return Date.now() + this.leapt;
  }

  after(ms: number, run: () => void): Disposable {
    const timer = { at: this.now() + ms, run };
    this.timers = [...this.timers, timer].sort((a, b) => a.at - b.at);
    this.wait();
    return {
      dispose: () => {
        this.timers = this.timers.filter((one) => one !== timer);
        this.wait();
      },
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(new CancelledError());
      const timer = this.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      const stop = () => {
        timer.dispose();
        reject(new CancelledError());
      };
      signal?.addEventListener('abort', stop, { once: true });
    });
  }

  /** Leaps from one timer to the next; `settle` is waited for behind each, for what the timer has begun takes its own time. */
  async pass(ms: number, settle: () => Promise<void>): Promise<void> {
    const until = this.now() + ms;
    for (let next = this.timers[0]; next && next.at <= until; next = this.timers[0]) {
      this.leapTo(next.at);
      this.ring();
      await settle();
    }
    this.leapTo(until);
    this.wait();
  }

  private leapTo(at: number): void {
    this.leapt += Math.max(0, at - this.now());
  }

  private ring(): void {
    const due = this.timers.filter(({ at }) => at <= this.now());
    this.timers = this.timers.filter((one) => !due.includes(one));
    this.wait();
    for (const { run } of due) run();
  }

  private wait(): void {
    clearTimeout(this.alarm);
    const next = this.timers[0];
    if (!next) return;
    // A timer of Node's takes at most 24 days.
    this.alarm = setTimeout(() => this.ring(), Math.min(2 ** 31 - 1, Math.max(0, next.at - this.now())));
    this.alarm.unref();
  }
}
