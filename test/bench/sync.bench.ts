import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { NewEntry } from '../../src/core/session/entry';
import { historyKeys, newPhrase, readPhrase } from '../../src/node/sync/historyKeys';
import { openEngine } from '../../src/node/sync/openEngine';
import { SyncThread } from '../../src/node/sync/syncInThread';
import { syncStoreOnce } from '../../src/node/sync/syncStore';
import { openStore } from '../../src/node/store/client/openStore';
import { UuidV7 } from '../../src/node/runtime/ids';
import { PostgresServer } from '../support/sync/postgresServer';
import { tempFolder, workerFile } from '../support/store/storeTemp';

const megabytes = Number(process.env['SYNC_MEGABYTES'] ?? 100);
const characters = 4_000;
const perSession = 250;
const distDir = dirname(workerFile);

export interface SyncBenchResult {
  readonly engine: string;
  /** Until the newest session can be read. Target: at most 3. */
  readonly usableSeconds: number;
  /** Until all has come. Target: at most 60. */
  readonly wholeSeconds: number;
  /** How late the timers of the window's thread come while it does, 99th percentile. Target: at most 5. */
  readonly windowDelayMs: number;
  readonly megabytes: number;
  readonly records: number;
  readonly sendSeconds: number;
}

/** A history that is new on a device, by the thread that a window starts. */
export async function run(): Promise<SyncBenchResult[]> {
  const results: SyncBenchResult[] = [];
  // The thread holds no process open.
  const awake = setInterval(() => undefined, 1_000);
  const temp = tempFolder();
  mkdirSync(join(temp.path, 'shared'));
  results.push(await firstRun('folder', join(temp.path, 'shared')));
  temp.remove();
  if (PostgresServer.isThere) {
    const server = await PostgresServer.start();
    results.push(await firstRun('PostgreSQL', server.address));
    await server.stop();
  }
  clearInterval(awake);
  return results;
}

async function firstRun(name: string, address: string): Promise<SyncBenchResult> {
  const entropy = readPhrase(newPhrase());
  const keys = historyKeys(entropy, 'main');
  const setup = { history: keys.history, name: 'main', engine: address };
  const access = { history: keys.history, bundles: distDir };
  const [here, there] = [tempFolder(), tempFolder()];
  try {
    const store = await openStore({ folder: here.path, workerFile, label: 'bench' });
    await fill(store);
    await store.startSync(randomUUID(), setup);
    const engine = await openEngine(address, { ...access, create: true });
    let began = performance.now();
    await syncStoreOnce(store, engine, keys);
    const sendSeconds = (performance.now() - began) / 1000;
    const records = (await engine.heads()).reduce((sum, { next }) => sum + next, 0);
    await engine.close();
    await store.close();
    const fresh = await openStore({ folder: there.path, workerFile, label: 'bench' });
    await fresh.startSync(randomUUID(), setup);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    began = performance.now();
    let usableSeconds = 0;
    delay.enable();
    const thread = await new Promise<SyncThread>((resolve, reject) => {
      const one = new SyncThread({ folder: there.path, distDir, entropy, password: null, deviceName: 'bench' }, (answer) => {
        if (answer.type === 'ended' && answer.failure !== null) reject(new Error(answer.failure));
        if (answer.type !== 'state') return;
        if (answer.state.failure) reject(new Error(answer.state.failure.message));
        if (answer.state.usable && usableSeconds === 0) usableSeconds = (performance.now() - began) / 1000;
        if (answer.state.phase === 'idle' && answer.state.at !== null) resolve(one);
      });
    });
    delay.disable();
    const wholeSeconds = (performance.now() - began) / 1000;
    await thread.stop();
    await fresh.close();
    // The monitor counts from the last time that its timer of 1 ms came.
    const windowDelayMs = delay.percentile(99) / 1e6 - 1;
    return { engine: name, usableSeconds, wholeSeconds, windowDelayMs, megabytes, records, sendSeconds };
  } finally {
    here.remove();
    there.remove();
  }
}

async function fill(store: Awaited<ReturnType<typeof openStore>>): Promise<void> {
  const ids = new UuidV7();
  const count = Math.ceil((megabytes * 1024 * 1024) / characters / perSession);
  for (let n = 0; n < count; n++) {
    const session = ids.next();
    await store.createSession({ uuid: session, channel: 'cli', createdAt: Date.now(), title: `Session ${n}` });
    const entries: NewEntry[] = [];
    for (let m = 0; m < perSession; m++) {
      entries.push({
        uuid: ids.next(),
        session,
        parent: entries.at(-1)?.uuid ?? null,
        createdAt: Date.now(),
        modelFacing: true,
        display: true,
        tokenEstimate: characters / 4,
        content: { type: 'message', role: 'user', text: words(n * perSession + m) },
      });
    }
    await store.append(session, { entries });
  }
}

function words(seed: number): string {
  let state = seed + 1;
  let text = '';
  while (text.length < characters) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += `word${(state >>> 8) % 50_000} `;
  }
  return text;
}
