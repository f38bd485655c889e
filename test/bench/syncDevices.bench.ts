import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { projectRoot } from '../support/paths';
import { crashEverywhere } from '../support/sync/crashPoints';
import { surviveKills } from '../support/sync/killedServer';
import { MemoryEngine } from '../support/sync/memoryEngine';
import { PostgresServer } from '../support/sync/postgresServer';
import { Simulation } from '../support/sync/simulation';
import { SyncDevice } from '../support/sync/syncRig';

interface SyncResult {
  readonly what: string;
  readonly result: string;
  readonly note?: string;
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
  results.push(...(await cost()));
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

/** A day of a person: 60 turns of a question, three calls of tools with their results, and an answer, of the texts of this repository. */
async function cost(): Promise<SyncResult[]> {
  const page = readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8').repeat(8);
  const device = await SyncDevice.open();
  const engine = new MemoryEngine();
  await device.join();
  const session = await device.begin('A day');
  await device.sync(engine);
  const rowsOf = () => [...engine.logs.values()].reduce((sum, log) => sum + log.size, 0);
  const [rows, bytes] = [rowsOf(), engine.bytes];
  let [at, plain, packed, most] = [0, 0, 0, 0];
  for (let turn = 0; turn < 60; turn++) {
    const texts = [300, 2_000, 2_000, 2_000, 1_500].map((length) => page.slice(at, (at += length)));
    for (const text of texts) await device.say(session, text);
    plain += texts.join('').length;
    packed += deflateRawSync(texts.join('\n')).length;
    engine.calls.length = 0;
    await device.sync(engine);
    most = Math.max(most, engine.calls.length);
  }
  await device.close();
  const [dayRows, dayBytes] = [rowsOf() - rows, engine.bytes - bytes];
  return [
    { what: 'a turn: round trips', result: String(most) },
    { what: 'a turn: bytes, of those of its text compressed', result: (dayBytes / packed).toFixed(2) },
    { what: 'a day of 60 turns', result: `${dayRows} rows, ${Math.round(dayBytes / 1024)} KB sealed of ${Math.round(plain / 1024)} KB` },
  ];
}
