import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openingReach } from '../../../src/core/chat/branchState';
import { openStore } from '../../../src/node/store/client/openStore';
import { historyKeys } from '../../../src/node/sync/historyKeys';
import { openEngine } from '../../../src/node/sync/openEngine';
import { SyncThread } from '../../../src/node/sync/syncInThread';
import { syncStoreOnce } from '../../../src/node/sync/syncStore';
import { workerFile } from '../../support/store/storeTemp';
import { BenchStore, message, messageCharacters } from '../store/benchStore';
import { writeYears, type Years } from './twoYears';

const queries = [
  'karen',
  'tosolda renmi',
  'pasolne',
  'verinka lumse gorta',
  'riltoka',
  'renmi karen solda',
  'nowhere at all',
  'src/ka.ts',
  'torenka mi',
  'lumgor neta sol',
];

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
const p95 = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? NaN;

async function timed<T>(work: () => Promise<T> | T): Promise<{ readonly ms: number; readonly result: T }> {
  const began = performance.now();
  const result = await work();
  return { ms: performance.now() - began, result };
}

const distDir = dirname(workerFile);

interface Carried {
  readonly folder: string;
  /** The folder that something carries from device to device. */
  readonly shared: string;
  /** In hexadecimal digits. */
  readonly entropy: string;
}

/** Each in a process of its own. */
export const yearsTasks = {
  async write({
    folder,
    entries,
  }: {
    readonly folder: string;
    readonly entries: number;
  }): Promise<Years & { readonly indexSeconds: number }> {
    const store = await BenchStore.open(folder);
    const years = writeYears(store, entries);
    const indexSeconds = store.index();
    store.close();
    return { ...years, indexSeconds };
  },

  /** As a window does it: the worker starts, the list is read, the longest session is shown, its size is known, somebody searches. */
  async use({ folder, longest }: { readonly folder: string; readonly longest: string }) {
    const { ms: open, result: store } = await timed(() => openStore({ folder, workerFile, label: 'bench', waitForOwnerMs: 0 }));
    const { ms: list } = await timed(() => store.listSessions({ limit: 100 }));
    const { ms: rows } = await timed(() => store.page(longest, { limit: 50 }));
    const { ms: gauge } = await timed(() => store.liveBranch(longest, openingReach));
    const { ms: whole } = await timed(() => store.branchSteps(longest));
    const opened = process.memoryUsage.rss();
    const searches: number[] = [];
    for (let round = 0; round < 3; round++)
      for (const text of queries) searches.push((await timed(() => store.search({ text, limit: 20 }))).ms);
    const { ms: analytics } = await timed(() => store.usageTotals({}));
    await sleep(200);
    const searched = process.memoryUsage.rss();
    await store.close();
    return { open, list, rows, gauge, whole, search: median(searches), searchLate: p95(searches), analytics, opened, searched };
  },

  /** All of the history goes to a folder. */
  async send({ folder, shared, entropy }: Carried) {
    const keys = historyKeys(Buffer.from(entropy, 'hex'), 'main');
    const store = await openStore({ folder, workerFile, label: 'bench', waitForOwnerMs: 0 });
    await store.startSync(randomUUID(), { history: keys.history, name: 'main', engine: shared });
    const engine = await openEngine(shared, { history: keys.history, bundles: distDir, create: true });
    const { ms: send } = await timed(() => syncStoreOnce(store, engine, keys));
    const again: number[] = [];
    const session = (await store.createSession({ uuid: randomUUID(), channel: 'cli', title: 'One more', createdAt: Date.now() })).uuid;
    for (let i = 0; i < 10; i++) {
      const leaf = (await store.session(session))?.leaf ?? null;
      await store.append(session, { entries: [message(session, leaf, messageCharacters)] });
      again.push((await timed(() => syncStoreOnce(store, engine, keys))).ms);
    }
    await engine.close();
    await store.close();
    return { send, again: median(again) };
  },

  /** A new device takes it from there. */
  async receive({ folder, shared, entropy }: Carried) {
    const bytes = Buffer.from(entropy, 'hex');
    const keys = historyKeys(bytes, 'main');
    // The thread holds no process open.
    const awake = setInterval(() => undefined, 1_000);
    const store = await openStore({ folder, workerFile, label: 'bench', waitForOwnerMs: 0 });
    await store.startSync(randomUUID(), { history: keys.history, name: 'main', engine: shared });
    const began = performance.now();
    let usable = NaN;
    let most = 0;
    const thread = await new Promise<SyncThread>((resolve, reject) => {
      const one = new SyncThread({ folder, distDir, entropy: bytes, password: null, deviceName: 'bench' }, (answer) => {
        most = Math.max(most, process.memoryUsage.rss());
        if (answer.type === 'ended' && answer.failure !== null) reject(new Error(answer.failure));
        if (answer.type !== 'state') return;
        if (answer.state.failure) reject(new Error(answer.state.failure.message));
        if (answer.state.usable && Number.isNaN(usable)) usable = performance.now() - began;
        if (answer.state.phase === 'idle' && answer.state.at !== null) resolve(one);
      });
    });
    const whole = performance.now() - began;
    const sessions = (await store.listSessions({})).length;
    await thread.stop();
    await store.close();
    clearInterval(awake);
    return { usable, whole, most, sessions };
  },

  /** One message a commit, without synchronising and with it. */
  async commit({ folder, longest }: { readonly folder: string; readonly longest: string }) {
    const store = await BenchStore.open(folder);
    const session = store.session('years-commits');
    const times = { off: [] as number[], on: [] as number[] };
    const { ms: join } = await timed(() => {
      measure(times.off);
      return store.core.startSync('device-1', { history: 'history', name: 'main', engine: 'bench' });
    });
    measure(times.on);
    store.close();
    return { off: median(times.off), on: median(times.on), join, longest };

    function measure(into: number[]): void {
      for (let i = 0; i < 300; i++) {
        const entry = message(session, store.core.session(session)?.leaf ?? null, messageCharacters);
        const began = performance.now();
        store.core.append(session, { entries: [entry] });
        into.push(performance.now() - began);
      }
    }
  },
} as const;

export type YearsTasks = typeof yearsTasks;
