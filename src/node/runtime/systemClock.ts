import { CancelledError } from '../../core/errors';
import type { Clock } from '../../core/ports';

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise<void>((resolve, reject) => {
      if (signal?.aborted) return reject(new CancelledError());
      const onAbort = () => {
        clearTimeout(timer);
        reject(new CancelledError());
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { dispose: () => clearTimeout(timer) };
  },
};
