import { deepStrictEqual } from 'node:assert';
import { untilAborted } from '../../../src/core/base/untilAborted';
import { CancelledError } from '../../../src/core/errors';
import type { Clock } from '../../../src/core/ports';
import { EngineError } from '../../../src/core/sync/syncEngine';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { SyncLoop } from '../../../src/node/sync/syncLoop';
import { waitFor } from '../../support/waitFor';

describe('the loop that synchronizes', () => {
  it('ends at once while the engine does not answer', async () => {
    let reached: () => void = () => undefined;
    const connecting = new Promise<void>((resolve) => (reached = resolve));
    const loop = new SyncLoop({
      store: { onDidChange: () => ({ dispose: () => undefined }) } as never,
      keys: historyKeys(readPhrase(newPhrase()), 'main'),
      open: (signal) => {
        reached();
        return untilAborted(new Promise<never>(() => undefined), signal, () => {
          throw new CancelledError();
        });
      },
      leads: () => Promise.resolve(true),
      noted: () => undefined,
      tell: () => undefined,
      clock: { now: () => 1_000, after: () => ({ dispose: () => undefined }) } as unknown as Clock,
    });
    const stop = new AbortController();
    const ended = loop.run(stop.signal);
    await connecting;
    stop.abort();
    await ended;
  });

  it('keeps its pause after a failure whatever is said here, and tries at once when asked', async () => {
    let now = 1000;
    let opened = 0;
    let waits = 0;
    const clock = {
      now: () => now,
      after: () => {
        waits++;
        return { dispose: () => undefined };
      },
    } as unknown as Clock;
    const loop = new SyncLoop({
      store: { onDidChange: () => ({ dispose: () => undefined }) } as never,
      keys: historyKeys(readPhrase(newPhrase()), 'main'),
      open: () => {
        opened++;
        return Promise.reject(new EngineError('refused', 'wrong password'));
      },
      leads: () => Promise.resolve(true),
      noted: () => undefined,
      tell: () => undefined,
      clock,
    });
    const stop = new AbortController();
    const ended = loop.run(stop.signal);
    const woken = async (reason: Parameters<SyncLoop['wake']>[0], ms: number) => {
      const before = waits;
      now += ms;
      loop.wake(reason);
      await waitFor('the next pause', () => waits > before, { interval: 1 });
      return opened;
    };
    await waitFor('the first pause', () => waits > 0, { interval: 1 });
    // The first pause is 2 s, the second 4 s, the third 8 s.
    deepStrictEqual(
      [
        await woken('changed', 500),
        await woken('news', 500),
        await woken('asked', 0),
        await woken('changed', 3999),
        await woken('changed', 1),
      ],
      [1, 1, 2, 2, 3],
    );
    stop.abort();
    await ended;
  });
});
