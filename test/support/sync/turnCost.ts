import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { projectRoot } from '../paths';
import { MemoryEngine } from './memoryEngine';
import { SyncDevice } from './syncRig';

export interface CostRow {
  readonly what: string;
  readonly measured: string;
  readonly target?: string;
  readonly verdict?: 'ok' | 'missed';
}

/** A day of a person: 60 turns of a question, three calls of tools with their results, and an answer, of the texts of this repository. */
export async function costOfTurns(): Promise<CostRow[]> {
  const page = readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8').repeat(8);
  const device = await SyncDevice.open();
  const engine = new MemoryEngine();
  await device.join();
  const session = await device.begin('A day');
  await device.sync(engine);
  const rowsOf = () => [...engine.logs.values()].reduce((sum, log) => sum + log.size, 0);
  const [rows, bytes] = [rowsOf(), engine.bytes];
  let [at, plain, packed, trips] = [0, 0, 0, 0];
  for (let turn = 0; turn < 60; turn++) {
    const texts = [300, 2_000, 2_000, 2_000, 1_500].map((length) => page.slice(at, (at += length)));
    for (const text of texts) await device.say(session, text);
    plain += texts.join('').length;
    packed += deflateRawSync(texts.join('\n')).length;
    engine.calls.length = 0;
    await device.sync(engine);
    trips = Math.max(trips, engine.calls.length);
  }
  engine.calls.length = 0;
  await device.sync(engine);
  const quiet = engine.calls.length;
  await device.close();
  const [dayRows, dayBytes] = [rowsOf() - rows, engine.bytes - bytes];
  const share = dayBytes / packed;
  return [
    { what: 'a turn: round trips', measured: String(trips), target: '≤ 2', verdict: trips <= 2 ? 'ok' : 'missed' },
    {
      what: 'a turn: bytes, of those of its text compressed',
      measured: share.toFixed(2),
      target: '≤ 1.3',
      verdict: share <= 1.3 ? 'ok' : 'missed',
    },
    { what: 'nothing new: round trips', measured: String(quiet), target: '1', verdict: quiet === 1 ? 'ok' : 'missed' },
    { what: 'a day of 60 turns', measured: `${dayRows} rows, ${Math.round(dayBytes / 1024)} KB sealed of ${Math.round(plain / 1024)} KB` },
  ];
}
