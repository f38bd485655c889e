import { crashEverywhere } from '../support/sync/crashPoints';
import { surviveKills } from '../support/sync/killedServer';
import { PostgresServer } from '../support/sync/postgresServer';
import { Simulation } from '../support/sync/simulation';

interface SyncResult {
  readonly what: string;
  readonly result: string;
}

const seeds = Number(process.env['SYNC_SEEDS'] ?? 50);
const operations = Number(process.env['SYNC_OPERATIONS'] ?? 10_000);
const killed = Number(process.env['SYNC_KILLED'] ?? 20);
const points = Number(process.env['SYNC_POINTS'] ?? 500);

/** What is promised of synchronizing (docs/sync.md), by as many rounds as are asked for; rejects where one fails. */
export async function run(): Promise<SyncResult[]> {
  const results: SyncResult[] = [];
  const { holes, left } = await crashEverywhere(points);
  results.push({ what: `holes after ${points} crashes, and after the next synchronization`, result: `${holes}, ${left}` });
  if (PostgresServer.isThere) {
    const server = await PostgresServer.start();
    let interrupted = 0;
    for (let seed = 1; seed <= killed; seed++) {
      interrupted += await surviveKills(server, seed);
      console.log(`server killed with -9: seed ${seed} of ${killed}`);
    }
    await server.stop();
    results.push({ what: `${killed} seeds, the server killed with -9 three times each`, result: `${interrupted} interrupted, 0 lost` });
  }
  const begun = Date.now();
  for (let seed = 1; seed <= seeds; seed++) {
    await new Simulation(seed).run(operations);
    if (seed % 10 === 0) console.log(`three devices: seed ${seed} of ${seeds}, ${Math.round((Date.now() - begun) / 1000)} s`);
  }
  results.push({ what: `${seeds} seeds of ${operations} operations on three devices`, result: '0 lost, 0 doubled, all equal' });
  return results;
}
