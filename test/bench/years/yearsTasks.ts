import { setTimeout as sleep } from 'node:timers/promises';
import { openingReach } from '../../../src/core/chat/branchState';
import { openStore } from '../../../src/node/store/client/openStore';
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
