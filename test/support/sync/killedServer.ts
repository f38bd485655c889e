import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { syncOnce } from '../../../src/core/sync/exchange';
import { EngineError } from '../../../src/core/sync/syncEngine';
import { GcmSealer } from '../../../src/node/sync/gcmSealer';
import { historyKeys, newPhrase, readPhrase } from '../../../src/node/sync/historyKeys';
import { seededRandom } from '../chat/endurance';
import type { MemoryReplica } from './memoryReplica';
import type { PostgresServer } from './postgresServer';
import { Simulation } from './simulation';

/**
 * Three devices do all that users do while their server is killed with -9, at a moment that the seed decides; in the end all of them have
 * everything. Returns how often the killing has interrupted somebody.
 */
export async function surviveKills(server: PostgresServer, seed: number, kills = 3, operations = 60): Promise<number> {
  const random = seededRandom(seed * 7919 + 1);
  const simulation = new Simulation(seed);
  const keys = historyKeys(readPhrase(newPhrase()), 'main');
  const attempt = async (replica: MemoryReplica): Promise<boolean> => {
    try {
      const engine = await server.open(keys.history, true);
      await syncOnce({ replica, engine, sealer: new GcmSealer(keys), newId: randomUUID });
      await engine.close();
      return true;
    } catch (error) {
      if (error instanceof EngineError) return false;
      throw error;
    }
  };
  let interrupted = 0;
  for (let kill = 0; kill < kills; kill++) {
    simulation.work(operations);
    const working = Promise.all(simulation.replicas.map(attempt));
    await pause(Math.floor(random() * 120));
    await server.kill();
    interrupted += (await working).filter((done) => !done).length;
    await server.run('');
  }
  for (let round = 0; round < 6; round++) for (const replica of simulation.replicas) await attempt(replica);
  simulation.check();
  return interrupted;
}
