import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { builtTests } from '../support/paths';
import { tempFolder } from '../support/store/storeTemp';
import type { BenchTasks } from './store/benchTasks';

export interface StoreBenchRow {
  readonly what: string;
  readonly measured: string;
  readonly target: string;
  readonly verdict: 'ok' | 'MISS' | '';
}

/** Small stores and few repeats, for a look in under a minute: the ratios are then those of 30 MB to 1 MB. */
const quick = process.argv.includes('--quick');
const sizes = quick ? [1, 10, 30] : [1, 10, 100, 300];
const opens = quick ? 3 : 7;

/** Every target of the store, as ratios within this run where it is one, beside export-per-commit with stock sql.js. */
export async function run(): Promise<StoreBenchRow[]> {
  const temp = tempFolder();
  const rows: StoreBenchRow[] = [];
  const loadBefore = loadavg()[0] ?? 0;
  const folderOf = (name: string | number) => join(temp.path, String(name));
  const [small, large] = [sizes[0] ?? 1, sizes.at(-1) ?? 1];
  const ratioName = `${large} MB : ${small} MB`;
  try {
    await task('build', { stores: sizes.map((megabytes) => ({ folder: folderOf(megabytes), megabytes })) });
    rows.push(...(await commitRows(folderOf, ratioName)));
    rows.push(...(await openRows(folderOf(small), folderOf(large), ratioName)));
    rows.push(...(await projectionRows(folderOf(small), folderOf(large), ratioName)));
    rows.push(...(await killRows(folderOf('killed'), folderOf('clean'))));
    rows.push(...(await bulkRows(folderOf('bulk'))));
    return [
      told(
        'load of the machine before and after, and processors',
        `${loadBefore.toFixed(1)}, ${loadavg()[0]?.toFixed(1)}, ${availableParallelism()}`,
      ),
      ...rows,
    ];
  } finally {
    temp.remove();
  }
}

async function commitRows(folderOf: (name: number) => string, ratioName: string): Promise<StoreBenchRow[]> {
  const rows: StoreBenchRow[] = [];
  const ours = new Map<number, BenchResult<'commits'>>();
  const exported = new Map<number, BenchResult<'exportCommits'>>();
  for (const size of sizes) {
    ours.set(size, await task('commits', { folder: folderOf(size), blocks: quick ? 3 : 6 }));
    // On a copy: what it writes is not a store.
    const copy = `${folderOf(size)}-exported`;
    cpSync(folderOf(size), copy, { recursive: true });
    exported.set(size, await task('exportCommits', { folder: copy, commits: size > 100 ? 3 : 7 }));
    rows.push(
      told(
        `commit of 2.6 KB at ${size} MB, and with export per commit`,
        `${ms(ours.get(size)?.median)} : ${ms(exported.get(size)?.median)}`,
      ),
    );
  }
  const of = (size: number | undefined) => ours.get(size ?? 0);
  const [small, large] = [of(sizes[0]), of(sizes.at(-1))];
  const compared = quick ? 30 : 100;
  rows.push(
    atMost(`commit, ${ratioName}`, ratio(large?.median, small?.median), 1.2),
    atLeast(`export per commit : append at ${compared} MB`, ratio(exported.get(compared)?.median, of(compared)?.median), quick ? 150 : 500),
    atMost('bytes written per byte of text', large?.amplification ?? NaN, 6),
    atMost(`worst commit, ${ratioName}`, ratio(large?.worst, small?.worst), 1.5),
    told('worst commit, and memory with export per commit', `${ms(large?.worst)}; ${megabytes(exported.get(sizes.at(-1) ?? 0)?.resident)}`),
  );
  return rows;
}

async function openRows(small: string, large: string, ratioName: string): Promise<StoreBenchRow[]> {
  const both = await alternately([small, large], (folder) => task('open', { folder, session: 'grown' }));
  const [one, other] = both.map((results) => ({
    opened: best(results.map((r) => r.opened)),
    resident: best(results.map((r) => r.resident)),
  }));
  return [
    atMost(`open, ${ratioName}`, ratio(other?.opened, one?.opened), 1.3),
    atMost(`resident memory, ${ratioName}`, ratio(other?.resident, one?.resident), 1.1),
    told('opened in, with', `${ms(other?.opened)}, ${megabytes(other?.resident)}`),
  ];
}

async function projectionRows(small: string, large: string, ratioName: string): Promise<StoreBenchRow[]> {
  await task('compact', { folder: small, session: 'grown', entries: 0 });
  await task('compact', { folder: large, session: 'grown', entries: 0 });
  await task('compact', { folder: large, session: 'short', entries: quick ? 100 : 1000 });
  const inSmall = await alternately([small], (folder) => task('project', { folder, sessions: ['grown'] }));
  const inLarge = await alternately([large], (folder) => task('project', { folder, sessions: ['grown', 'short'] }));
  const smallMs = best((inSmall[0] ?? []).map(({ ms }) => ms[0] ?? NaN));
  const longMs = best((inLarge[0] ?? []).map(({ ms }) => ms[0] ?? NaN));
  const shortMs = best((inLarge[0] ?? []).map(({ ms }) => ms[1] ?? NaN));
  return [
    atMost(`projection, ${ratioName}`, ratio(longMs, smallMs), 1.3),
    atMost(
      quick ? 'projection with 11k entries of history : 100' : 'projection with 115k entries of history : 1k',
      ratio(longMs, shortMs),
      1.3,
    ),
    told('projection of 41 messages', ms(longMs)),
  ];
}

async function killRows(killed: string, clean: string): Promise<StoreBenchRow[]> {
  await task('die', { folder: killed, commits: quick ? 1000 : 10_000 }, true);
  cpSync(killed, clean, { recursive: true });
  await task('open', { folder: clean, session: 'grown' });
  const times = { killed: [] as number[], clean: [] as number[] };
  // A copy for each opening, of the clean store as well: whatever is done once for a folder is done for both.
  for (let i = 0; i < opens; i++) {
    for (const [which, folder] of [
      ['killed', killed],
      ['clean', clean],
    ] as const) {
      const copy = `${folder}-${i}`;
      cpSync(folder, copy, { recursive: true });
      times[which].push((await task('open', { folder: copy, session: 'grown' })).opened);
    }
  }
  return [
    atMost(`open after ${quick ? '1,000' : '10,000'} commits and a kill : clean open`, ratio(best(times.killed), best(times.clean)), 1.3),
  ];
}

async function bulkRows(folder: string): Promise<StoreBenchRow[]> {
  const entries = quick ? 3000 : 14_179;
  const filled = await task('fill', { folder, session: 'bulk', entries, characters: 5078, index: true });
  // Merging leaves the index up to 1 MB of pages that wait for what comes next: of 600 messages each would have 1.5 KB of them.
  const chatEntries = quick ? 600 : 6000;
  const chat = await task('fill', { folder: `${folder}-chat`, session: 'chat', entries: chatEntries, characters: 3650, index: true });
  await task('fill', { folder: `${folder}-empty`, session: 'bulk', entries: 0, characters: 0 });
  const [opened = []] = await alternately([folder], () => task('open', { folder, session: 'bulk' }));
  const search = await task('search', { folder });
  const { delays } = await task('loop', { folder, session: 'bulk' });
  const { ms: whole } = await task('resume', { folder, session: 'bulk', whole: true });
  const uncompacted = await beyondEmpty(folder);
  await task('compact', { folder, session: 'bulk', entries: 0 });
  const difference = await beyondEmpty(folder);
  return [
    atMost(`first page of ${entries} entries after the worker starts, ms`, best(opened.map((r) => r.afterStart)), 150),
    told('the same from the call on', ms(best(opened.map((r) => r.page)))),
    atMost(`resume a session of ${entries} entries minus an empty one, ms`, difference, 80),
    atMost('the same where it was never compacted, ms', uncompacted, 100),
    told('resume it uncompacted, with every text handed to the window', ms(whole)),
    atMost('bytes per message of 3,650 characters with search index', chat.withIndex / chatEntries, 6000),
    told('of which pages that wait for more', `${Math.round(chat.free / chatEntries)}`),
    told(
      `${entries} messages indexed in, index per byte of text`,
      `${filled.seconds.toFixed(1)} s, ${((filled.withIndex - filled.bytes) / (entries * 5078)).toFixed(2)}`,
    ),
    atMost('full-text search : LIKE', ratio(search.search, search.like), 0.1),
    told('search, slowest search, LIKE', `${ms(search.search)}, ${ms(search.worst)}, ${ms(search.like)}`),
    ...delays.flatMap(({ what, first, used, idle }) => [
      atMost(`delay of the window's thread, 99 %, ms: ${what}, the first time`, first, 5),
      used === null
        ? told(`the same : idle (${ms(idle)})`, ratio(first, idle).toFixed(2))
        : atMost(`the same once it is in use : idle (${ms(idle)})`, ratio(used, idle), 3),
    ]),
  ];
}

/** Milliseconds that resuming takes more than in a store with an empty session. */
async function beyondEmpty(folder: string): Promise<number> {
  const [empty = [], full = []] = await alternately([`${folder}-empty`, folder], (which) =>
    task('resume', { folder: which, session: 'bulk' }),
  );
  return best(full.map(({ ms }) => ms)) - best(empty.map(({ ms }) => ms));
}

type BenchResult<K extends keyof BenchTasks> = Awaited<ReturnType<BenchTasks[K]>>;

async function task<K extends keyof BenchTasks>(name: K, given: Parameters<BenchTasks[K]>[0], dies = false): Promise<BenchResult<K>> {
  const child = fork(join(builtTests, 'bench', 'store', 'benchChild.js'), [name, JSON.stringify(given)]);
  let answer: { result: BenchResult<K> } | undefined;
  child.once('message', (message) => (answer = message as { result: BenchResult<K> }));
  await once(child, 'exit');
  if (dies) return null as BenchResult<K>;
  if (!answer) throw new Error(`The task ${name} failed; its output is above`);
  return answer.result;
}

/** By turns, so that a machine that gets slower meanwhile slows all of them. */
async function alternately<T>(folders: readonly string[], measure: (folder: string) => Promise<T>): Promise<T[][]> {
  const results = folders.map((): T[] => []);
  for (let round = 0; round < opens; round++) {
    for (const [i, folder] of folders.entries()) results[i]?.push(await measure(folder));
  }
  return results;
}

function atMost(what: string, measured: number, target: number): StoreBenchRow {
  return { what, measured: String(Number(measured.toPrecision(3))), target: `≤ ${target}`, verdict: measured <= target ? 'ok' : 'MISS' };
}

function atLeast(what: string, measured: number, target: number): StoreBenchRow {
  return { what, measured: String(Number(measured.toPrecision(3))), target: `≥ ${target}`, verdict: measured >= target ? 'ok' : 'MISS' };
}

function told(what: string, measured: string): StoreBenchRow {
  return { what, measured, target: '', verdict: '' };
}

function ratio(a: number | undefined, b: number | undefined): number {
  return (a ?? NaN) / (b ?? NaN);
}

/** Whatever else the machine does only makes it slower. */
function best(values: readonly number[]): number {
  return Math.min(...values);
}

function ms(value: number | undefined): string {
  return `${(value ?? NaN).toFixed(value !== undefined && value >= 100 ? 0 : 2)} ms`;
}

function megabytes(bytes: number | undefined): string {
  return `${Math.round((bytes ?? NaN) / 1e6)} MB`;
}
