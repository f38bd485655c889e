import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';

/** How late the timers of this thread came while something was done, and for how much of that time it was at work itself. */
export interface ThreadDelay {
  /** Milliseconds, 99th percentile. */
  readonly p99: number;
  /** Between 0 and 1. */
  readonly busy: number;
}

export async function threadDelay<T>(work: () => Promise<T>): Promise<ThreadDelay & { readonly result: T }> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  const before = performance.eventLoopUtilization();
  histogram.enable();
  const result = await work();
  histogram.disable();
  // The monitor counts from the last time that its timer of 1 ms came.
  return { result, p99: histogram.percentile(99) / 1e6 - 1, busy: performance.eventLoopUtilization(before).utilization };
}

/** What the machine makes of any two threads that compute beside this one: nothing that is done here can be below that. */
export async function besideTwoThreads<T>(work: () => Promise<T>): Promise<T> {
  const threads = [1, 2].map(() => new Worker('for (let n = 0; ; n++) Math.sqrt(n);', { eval: true }));
  await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('online', resolve))));
  try {
    return await work();
  } finally {
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}
