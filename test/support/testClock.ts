import { CancelledError } from '../../src/core/errors';
import type { Clock } from '../../src/core/ports';

/** Time that only moves when somebody sleeps: every sleep ends at once and is remembered. */
export class TestClock implements Clock {
  readonly slept: number[] = [];
  private time = Date.UTC(2026, 10, 22, 12);

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
