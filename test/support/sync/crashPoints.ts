import { syncOnce } from '../../../src/core/sync/exchange';
import type { SyncEngine } from '../../../src/core/sync/syncEngine';
import type { SyncReplica } from '../../../src/core/sync/syncReplica';
import { seededRandom } from '../chat/endurance';
import { MemoryEngine } from './memoryEngine';
import { PlainSealer } from './plainSealer';
import { Simulation } from './simulation';

class Crash extends Error {}

/** Dies at the call that is `left` away: before it, after it, or in the middle of what it was to write. */
function dying<T extends SyncReplica | SyncEngine>(target: T, left: { calls: number }, when: number): T {
  return new Proxy(target, {
    get: (from, name) => {
      const method = Reflect.get(from, name) as unknown;
      if (typeof method !== 'function') return method;
      return async (...args: unknown[]) => {
        const call = method as (...given: unknown[]) => Promise<unknown>;
        if (when === 2 ? name !== 'push' : left.calls-- > 0) return call.apply(from, args);
        if (when === 1) await call.apply(from, args);
        // An engine that was in the middle of it has every other row.
        if (when === 2)
          await call.call(
            from,
            (args[0] as unknown[]).filter((_, i) => i % 2 === 1),
            args[1],
          );
        throw new Crash();
      };
    },
  });
}

/** Dies so many times while synchronizing; returns how many of the engine's logs had a hole then, and how many after the next time. */
export async function crashEverywhere(points: number): Promise<{ readonly holes: number; readonly left: number }> {
  const random = seededRandom(41);
  const simulation = new Simulation(3);
  const engine = new MemoryEngine();
  const holesNow = async () => (await engine.heads()).filter(({ next, count }) => count < next).length;
  let [holes, left, ids] = [0, 0, 0];
  for (let point = 0; point < points; point++) {
    simulation.work(12);
    const replica = simulation.replicas[point % 3]!;
    const sync = (through: (target: SyncReplica | SyncEngine) => SyncReplica | SyncEngine) =>
      syncOnce({
        replica: through(replica) as SyncReplica,
        engine: through(engine) as SyncEngine,
        sealer: new PlainSealer(replica.device, replica),
        newId: () => `${++ids}`,
      });
    const calls = { calls: Math.floor(random() * 24) };
    const when = Math.floor(random() * 3);
    await sync((target) => dying(target, calls, when)).catch((error: unknown) => {
      if (!(error instanceof Crash)) throw error;
    });
    holes += await holesNow();
    await sync((target) => target);
    left += await holesNow();
  }
  return { holes, left };
}
