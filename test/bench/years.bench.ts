import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storeFiles } from '../../src/node/store/database/storeFiles';
import { newPhrase, readPhrase } from '../../src/node/sync/historyKeys';
import { builtTests } from '../support/paths';
import { tempFolder } from '../support/store/storeTemp';
import type { YearsTasks } from './years/yearsTasks';

export const onlyNamed = true;

export interface YearsBenchRow {
  readonly what: string;
  readonly 'two years : a week': string;
  readonly 'two years': string;
  readonly 'a week': string;
  readonly target: string;
}

/** 100,000 entries and 1 GB; `--quick` writes a tenth of it. */
const [week, years] = process.argv.includes('--quick') ? [500, 10_000] : [1_000, 100_000];
const rounds = 3;

/** A history of two years from twelve programs beside one of a week, in one run. */
export async function run(): Promise<YearsBenchRow[]> {
  const temp = tempFolder();
  try {
    const folder = { week: join(temp.path, 'week'), years: join(temp.path, 'years') };
    const written = {
      week: await task('write', { folder: folder.week, entries: week }),
      years: await task('write', { folder: folder.years, entries: years }),
    };
    const uses = { week: [] as Used[], years: [] as Used[] };
    // By turns, so that a machine that gets slower meanwhile slows both.
    for (let round = 0; round < rounds; round++)
      for (const which of ['week', 'years'] as const)
        uses[which].push(await task('use', { folder: folder[which], longest: written[which].longest }));
    const commits = {
      week: await task('commit', { folder: folder.week, longest: written.week.longest }),
      years: await task('commit', { folder: folder.years, longest: written.years.longest }),
    };
    const sizes = { week: statSync(storeFiles(folder.week).main).size, years: statSync(storeFiles(folder.years).main).size };
    const synced = { week: await sync(folder.week, temp.path), years: await sync(folder.years, temp.path) };
    const best = (which: 'week' | 'years', name: keyof Used) => Math.min(...uses[which].map((used) => used[name]));
    const used = (what: string, name: keyof Used, target: string): YearsBenchRow =>
      row(what, best('years', name), best('week', name), ms, target);
    return [
      row('entries', years, week, String, ''),
      row('sessions', written.years.sessions.length, written.week.sessions.length, String, ''),
      row('characters, MB', written.years.characters / 1e6, written.week.characters / 1e6, whole, ''),
      row('file with its index, MB', sizes.years / 1e6, sizes.week / 1e6, whole, ''),
      row('indexed in, s', written.years.indexSeconds, written.week.indexSeconds, whole, ''),
      used('open', 'open', '≤ 1.5'),
      used('the list of sessions', 'list', ''),
      used('first rows of the longest session', 'rows', '≤ 2'),
      used('what the gauge needs of it', 'gauge', '≤ 2'),
      used('every step of it, without texts', 'whole', ''),
      used('search, median', 'search', ''),
      used('search, 95 %', 'searchLate', '≤ 500 ms'),
      used('usage of all time', 'analytics', ''),
      row('memory, opened, MB', best('years', 'opened') / 1e6, best('week', 'opened') / 1e6, whole, '≤ 1.2'),
      row('memory, searched, MB', best('years', 'searched') / 1e6, best('week', 'searched') / 1e6, whole, ''),
      row('commit of 2.6 KB', commits.years.off, commits.week.off, ms, '≤ 1.3'),
      row('commit with synchronising on', commits.years.on, commits.week.on, ms, ''),
      row('synchronising switched on', commits.years.join, commits.week.join, ms, ''),
      row('all sent to a folder, s', synced.years.send / 1000, synced.week.send / 1000, tenths, ''),
      row('one more message exchanged', synced.years.again, synced.week.again, ms, '≤ 2'),
      row('new device: newest session usable, s', synced.years.usable / 1000, synced.week.usable / 1000, tenths, '≤ 3 s'),
      row('new device: all there, s', synced.years.whole / 1000, synced.week.whole / 1000, tenths, ''),
      row('new device: most memory, MB', synced.years.most / 1e6, synced.week.most / 1e6, whole, ''),
    ];
  } finally {
    temp.remove();
  }
}

/** The history goes to a folder, and from there to a device that has none. */
async function sync(folder: string, scratch: string) {
  const given = { shared: join(scratch, 'shared'), entropy: Buffer.from(readPhrase(newPhrase())).toString('hex') };
  const other = join(scratch, 'other');
  mkdirSync(given.shared);
  mkdirSync(other);
  const sent = await task('send', { ...given, folder });
  const received = await task('receive', { ...given, folder: other });
  for (const done of [folder, given.shared, other]) rmSync(done, { recursive: true });
  return { ...sent, ...received };
}

type Used = Awaited<ReturnType<YearsTasks['use']>>;

function row(what: string, large: number, small: number, say: (value: number) => string, target: string): YearsBenchRow {
  return { what, 'two years : a week': (large / small).toFixed(2), 'two years': say(large), 'a week': say(small), target };
}

function ms(value: number): string {
  return `${value.toPrecision(3)} ms`;
}

function tenths(value: number): string {
  return value.toFixed(1);
}

function whole(value: number): string {
  return value.toFixed(0);
}

async function task<K extends keyof YearsTasks>(name: K, given: Parameters<YearsTasks[K]>[0]): Promise<Awaited<ReturnType<YearsTasks[K]>>> {
  const child = fork(join(builtTests, 'bench', 'years', 'yearsChild.js'), [name, JSON.stringify(given)]);
  let answer: { result: Awaited<ReturnType<YearsTasks[K]>> } | undefined;
  child.once('message', (message) => (answer = message as typeof answer));
  await once(child, 'exit');
  if (!answer) throw new Error(`The task ${name} failed; its output is above`);
  return answer.result;
}
