import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewEntry } from '../../src/core/session/entry';
import { historyKeys, newPhrase, readPhrase } from '../../src/node/sync/historyKeys';
import { openEngine } from '../../src/node/sync/openEngine';
import { SyncThread } from '../../src/node/sync/syncInThread';
import { syncStoreOnce } from '../../src/node/sync/syncStore';
import { openStore } from '../../src/node/store/client/openStore';
import { UuidV7 } from '../../src/node/runtime/ids';
import { commitCost } from '../support/sync/commitCost';
import { PostgresServer } from '../support/sync/postgresServer';
import { besideTwoThreads, threadDelay } from '../support/sync/threadDelay';
import { costOfTurns } from '../support/sync/turnCost';
import { tempFolder, workerFile } from '../support/store/storeTemp';

const megabytes = Number(process.env['SYNC_MEGABYTES'] ?? 100);
const commits = Number(process.env['SYNC_COMMITS'] ?? 1_500);
const idleMs = 3_000;
const characters = 4_000;
const perSession = 250;
const distDir = dirname(workerFile);

export interface SyncBenchResult {
  readonly what: string;
  readonly measured: string;
  readonly target?: string;
  readonly verdict?: 'ok' | 'missed';
  readonly note?: string;
}

const note = `“The window’s thread” is the one on which the extension runs: how late its timers of 1 ms come. It is told beside an idle thread in
the same run, and beside one next to which two other threads only compute: that is what the scheduler makes of two processors that are taken, whoever takes them.
Times in seconds and milliseconds say something only where the load of the machine was below its processors; ratios and shares hold.`;

/** What synchronizing costs, and a history that is new on a device, by the thread that a window starts. */
export async function run(): Promise<SyncBenchResult[]> {
  // The thread holds no process open.
  const awake = setInterval(() => undefined, 1_000);
  const load = loadavg()[0]!.toFixed(1);
  const results: SyncBenchResult[] = [...(await costOfTurns()), await costOfCommits()];
  const temp = tempFolder();
  mkdirSync(join(temp.path, 'shared'));
  results.push(...(await firstRun('folder', join(temp.path, 'shared'))));
  temp.remove();
  if (PostgresServer.isThere) {
    const server = await PostgresServer.start();
    results.push(...(await firstRun('PostgreSQL', server.address)));
    await server.stop();
  }
  clearInterval(awake);
  const loads = `${load}, ${loadavg()[0]!.toFixed(1)}, ${availableParallelism()}`;
  return [{ what: 'load of the machine before and after, and processors', measured: loads }, ...results];
}

async function costOfCommits(): Promise<SyncBenchResult> {
  const { median } = await commitCost(commits);
  const ratio = median.on / median.off;
  const measured = `${ratio.toFixed(2)} (${median.on.toFixed(2)} : ${median.off.toFixed(2)} ms)`;
  return { what: `commit of a turn, on : off (median of ${commits})`, measured, ...within(ratio, 1.2) };
}

function within(value: number, most: number, unit = ''): { readonly target: string; readonly verdict: 'ok' | 'missed' } {
  return { target: `≤ ${most}${unit}`, verdict: value <= most ? 'ok' : 'missed' };
}

async function firstRun(name: string, address: string): Promise<SyncBenchResult[]> {
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
    const sending = performance.now();
    await syncStoreOnce(store, engine, keys);
    const sendSeconds = (performance.now() - sending) / 1000;
    const records = (await engine.heads()).reduce((sum, { next }) => sum + next, 0);
    await engine.close();
    await store.close();
    const fresh = await openStore({ folder: there.path, workerFile, label: 'bench' });
    await fresh.startSync(randomUUID(), setup);
    const idle = () => threadDelay(() => sleep(idleMs));
    const before = await idle();
    const computing = await besideTwoThreads(idle);
    const began = performance.now();
    let usableSeconds = 0;
    const { result: thread, ...syncing } = await threadDelay(
      () =>
        new Promise<SyncThread>((resolve, reject) => {
          const one = new SyncThread({ folder: there.path, distDir, entropy, password: null, deviceName: 'bench' }, (answer) => {
            if (answer.type === 'ended' && answer.failure !== null) reject(new Error(answer.failure));
            if (answer.type !== 'state') return;
            if (answer.state.failure) reject(new Error(answer.state.failure.message));
            if (answer.state.usable && usableSeconds === 0) usableSeconds = (performance.now() - began) / 1000;
            if (answer.state.phase === 'idle' && answer.state.at !== null) resolve(one);
          });
        }),
    );
    const wholeSeconds = (performance.now() - began) / 1000;
    const after = await idle();
    await thread.stop();
    await fresh.close();
    const rest = Math.max(before.p99, after.p99);
    const ms = (value: number) => `${value.toFixed(2)} ms`;
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    return [
      {
        what: `${name}, first run, ${megabytes} MB in ${records} records: usable after`,
        measured: `${usableSeconds.toFixed(1)} s`,
        ...within(usableSeconds, 3, ' s'),
      },
      { what: `${name}: whole after`, measured: `${wholeSeconds.toFixed(1)} s`, ...within(wholeSeconds, 60, ' s') },
      { what: `${name}: sent in`, measured: `${sendSeconds.toFixed(1)} s` },
      {
        what: `${name}, first run: delay of the window’s thread, p99`,
        measured: `${ms(syncing.p99)}; idle ${ms(rest)}, beside two threads that compute ${ms(computing.p99)}`,
        ...within(syncing.p99, 5, ' ms'),
        ...(name === 'folder' ? { note } : {}),
      },
      { what: `the same, syncing : idle, and more than idle`, measured: `${(syncing.p99 / rest).toFixed(2)}, ${ms(syncing.p99 - rest)}` },
      { what: `the window’s thread at work, syncing and idle`, measured: `${percent(syncing.busy)}, ${percent(before.busy)}` },
    ];
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
