import { cpSync, mkdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionStore } from '../../../src/core/ports';
import { openStore } from '../../../src/node/store/client/openStore';
import { workerFile } from '../../support/store/storeTemp';
import { openingReach } from '../../../src/core/chat/branchState';
import { BenchStore, grown, message, messageCharacters } from './benchStore';
import { exportPerCommit } from './exportPerCommit';

/** What is measured in a process of its own, so that one measurement does not warm, fill or slow another. */
export const benchTasks = {
  /** Stores of growing size, each a copy of the one before with more in it. */
  async build({ stores }: { stores: readonly { folder: string; megabytes: number }[] }): Promise<null> {
    let before: string | undefined;
    for (const { folder, megabytes } of stores) {
      if (before === undefined) mkdirSync(folder, { recursive: true });
      else cpSync(before, folder, { recursive: true });
      const store = await BenchStore.open(folder);
      store.growTo(megabytes * 1e6);
      store.close();
      before = folder;
    }
    return null;
  },

  async fill({
    folder,
    session,
    entries,
    characters,
    index,
  }: {
    folder: string;
    session: string;
    entries: number;
    characters: number;
    index?: boolean;
  }) {
    const store = await BenchStore.open(folder);
    store.say(store.session(session), entries, characters, 200);
    const pragma = (name: string) => Number(store.database.connection.get(`PRAGMA ${name}`)?.[name]);
    const sizeOf = (pages: 'page_count' | 'freelist_count' = 'page_count') => pragma(pages) * pragma('page_size');
    const bytes = sizeOf();
    const seconds = index ? store.index() : 0;
    const [withIndex, free] = [sizeOf(), sizeOf('freelist_count')];
    store.close();
    return { bytes, withIndex, free, seconds };
  },

  /** One message per commit. The worst of each block is a stall; a checkpoint falls into every block. */
  async commits({ folder, blocks }: { folder: string; blocks: number }) {
    const store = await BenchStore.open(folder);
    const perBlock = 400;
    store.say(store.session(grown), 30, messageCharacters);
    store.database.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const before = store.bytesWritten;
    const times: number[] = [];
    const worst: number[] = [];
    let parent = store.core.session(grown)?.leaf ?? null;
    for (let block = 0; block < blocks; block++) {
      const block: number[] = [];
      for (let i = 0; i < perBlock; i++) {
        const entry = message(grown, parent, messageCharacters);
        const started = performance.now();
        store.core.append(grown, { entries: [entry] });
        block.push(performance.now() - started);
        parent = entry.uuid;
      }
      times.push(...block);
      worst.push(Math.max(...block));
    }
    store.database.connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const amplification = (store.bytesWritten - before) / (blocks * perBlock * messageCharacters);
    store.close();
    return { median: median(times), worst: median(worst), amplification };
  },

  exportCommits: exportPerCommit,

  /** As a window does it: from the start of the worker to the first page. */
  async open({ folder, session }: { folder: string; session: string }) {
    const started = performance.now();
    let online = 0;
    process.on('worker', (worker) => worker.on('online', () => (online ||= performance.now() - started)));
    const store = await openStore({ folder, workerFile, label: 'bench', waitForOwnerMs: 0 });
    const opened = performance.now() - started;
    await store.page(session, { limit: 50 });
    const page = performance.now() - started;
    for (let i = 0; i < 20; i++) await store.page(session, { limit: 50 });
    const resident = process.memoryUsage.rss();
    await store.close();
    return { opened, page, afterStart: page - online, resident };
  },

  /** A session as it is resumed: branch, page and what was left behind. `whole`: every text of the branch is read as well. */
  async resume({ folder, session, whole = false }: { folder: string; session: string; whole?: boolean }) {
    const started = performance.now();
    const store = await openStore({ folder, workerFile, label: 'bench', waitForOwnerMs: 0 });
    await store.recoverPartials(session);
    await Promise.all([store.page(session, { limit: 50 }), store.liveBranch(session, whole ? undefined : openingReach)]);
    const ms = performance.now() - started;
    await store.close();
    return { ms };
  },

  async compact({ folder, session, entries }: { folder: string; session: string; entries: number }): Promise<null> {
    const store = await BenchStore.open(folder);
    if (entries > 0) store.say(store.session(session), entries, messageCharacters, 200);
    store.compact(session);
    store.close();
    return null;
  },

  async project({ folder, sessions }: { folder: string; sessions: readonly string[] }) {
    const store = await BenchStore.open(folder);
    const times = sessions.map((): number[] => []);
    for (let round = 0; round < 60; round++) {
      sessions.forEach((session, i) => {
        const started = performance.now();
        store.core.liveBranch(session);
        if (round >= 10) times[i]?.push(performance.now() - started);
      });
    }
    store.close();
    return { ms: times.map(median) };
  },

  /** Commits and dies without closing. */
  async die({ folder, commits }: { folder: string; commits: number }): Promise<null> {
    const store = await BenchStore.open(folder);
    store.say(store.session(grown), commits, 200);
    process.kill(process.pid, 'SIGKILL');
    return null;
  },

  /** What a caller in the window waits for a search, and what LIKE over the same texts takes. The store is indexed. */
  async search({ folder }: { folder: string }) {
    const queries = ['karen', 'tosolda renmi', 'pasolne', 'verinka lumse gorta', 'riltoka'];
    const store = await BenchStore.open(folder);
    const times = { search: [] as number[], like: [] as number[] };
    for (const text of queries) {
      const run = (work: () => unknown) => {
        const started = performance.now();
        work();
        return performance.now() - started;
      };
      const parts = text.split(' ').map((part) => `%${part}%`);
      times.search.push(Math.min(...[1, 2, 3].map(() => run(() => store.core.search({ text, limit: 20 })))));
      times.like.push(
        Math.min(
          ...[1, 2].map(() =>
            run(() =>
              store.database.connection.all(`SELECT entry FROM bodies WHERE ${parts.map(() => 'text LIKE ?').join(' OR ')}`, parts),
            ),
          ),
        ),
      );
    }
    store.close();
    return { search: median(times.search), worst: Math.max(...times.search), like: median(times.like) };
  },

  /**
   * How late the timers of the window's thread come while the store works, in milliseconds: 99th percentiles. The first time is told
   * apart: V8 then compiles SQLite on four threads of its own, and with two processors the window's thread waits for one. Of 776 ms of
   * first searches it spent 249 in the scheduler's queue and 29 at work; of 564 ms of later ones 2 and 24.
   */
  async loop({ folder, session }: { folder: string; session: string }) {
    const delays: { what: string; first: number; used: number | null; idle: number }[] = [];
    const p99 = async (work: () => Promise<unknown>) => {
      const histogram = monitorEventLoopDelay({ resolution: 1 });
      histogram.enable();
      await work();
      histogram.disable();
      return histogram.percentile(99) / 1e6;
    };
    const idle = async () => {
      // The index follows what was appended.
      await sleep(1_500);
      return p99(() => sleep(400));
    };
    const measure = async (what: string, work: () => Promise<unknown>) => {
      const first = await p99(work);
      for (let round = 0; round < 5; round++) await work();
      const before = await idle();
      const used = await p99(work);
      delays.push({ what, first, used, idle: Math.max(before, await idle()) });
    };
    let store: SessionStore | undefined;
    const open = async () => (store = await openStore({ folder, workerFile, label: 'bench', waitForOwnerMs: 0 }));
    delays.push({ what: 'opening', idle: await idle(), first: await p99(open), used: null });
    const opened = store ?? (await open());
    await measure('300 appends', async () => {
      let parent = (await opened.session(session))?.leaf ?? null;
      for (let i = 0; i < 300; i++) {
        const entry = message(session, parent, messageCharacters);
        await opened.append(session, { entries: [entry] });
        parent = entry.uuid;
      }
    });
    await measure('300 parts of a streamed answer', async () => {
      const chunk = {
        ...message(session, null, 1),
        kind: 'message',
        provider: 'p',
        model: 'm',
        text: 'a few words of an answer '.repeat(4),
      } as const;
      for (let i = 0; i < 300; i++) await opened.writePartial({ ...chunk, entry: chunk.uuid });
    });
    await measure('100 pages', async () => {
      for (let i = 0; i < 100; i++) await opened.page(session, { limit: 50 });
    });
    await measure('50 searches', async () => {
      for (let i = 0; i < 50; i++) await opened.search({ text: 'karen tosol', limit: 20 });
    });
    await measure('a whole branch', () => opened.liveBranch(session));
    await opened.close();
    return { delays };
  },
};

export type BenchTasks = typeof benchTasks;

function median(values: readonly number[]): number {
  return [...values].sort((x, y) => x - y)[Math.floor(values.length / 2)] ?? NaN;
}
