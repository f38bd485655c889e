import { fork } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { storeFiles } from '../../src/node/store/database/storeFiles';
import { builtTests } from '../support/paths';
import { tempFolder } from '../support/store/storeTemp';
import type { EverywhereTasks, SearchTimes } from './everywhere/everywhereTasks';

export const onlyNamed = true;

export interface EverywhereRow {
  readonly what: string;
  readonly measured: string;
  readonly target: string;
}

const workspaces = 13;
/** 1 GB of text together; `--quick` writes a tenth of it. */
const entries = Math.round((process.argv.includes('--quick') ? 10_000 : 100_000) / workspaces);
/** Windows that search once after they have been opened. */
const windows = 8;
const rounds = 5;
/** Written at once. */
const atOnce = 2;

/** A search over this workspace and twelve others, with 1 GB of history together, as *Search History…* makes it. */
export async function run(): Promise<EverywhereRow[]> {
  const temp = tempFolder();
  try {
    const folders = Array.from({ length: workspaces }, (_, i) => join(temp.path, `w${i}`));
    let characters = 0;
    for (let i = 0; i < workspaces; i += atOnce) {
      const written = await Promise.all(
        folders.slice(i, i + atOnce).map((folder, k) => task('write', { folder, entries, seed: i + k + 1 })),
      );
      for (const one of written) characters += one.characters;
    }
    const [own = '', ...others] = folders;
    const found: Awaited<ReturnType<EverywhereTasks['search']>>[] = [];
    for (let i = 0; i < windows; i++) found.push(await task('search', { own, others, rounds: i === 0 ? rounds : 0 }));
    const cold = (name: keyof SearchTimes) => p95(found.flatMap((one) => one.cold[name]));
    const warm = (name: keyof SearchTimes) => p95(found.flatMap((one) => one.warm[name]));
    const bytes = folders.reduce((sum, folder) => sum + statSync(storeFiles(folder).main).size, 0);
    return [
      { what: `characters in ${workspaces} histories, MB`, measured: (characters / 1e6).toFixed(0), target: '' },
      { what: 'files with their indices, MB', measured: (bytes / 1e6).toFixed(0), target: '' },
      { what: 'first results, p95', measured: ms(warm('own')), target: '≤ 100 ms' },
      { what: 'first results of a window that has just been opened, p95', measured: ms(cold('own')), target: '≤ 100 ms' },
      { what: 'until another workspace has answered, p95', measured: ms(warm('firstOther')), target: '' },
      { what: 'until all of them have, p95', measured: ms(warm('all')), target: '' },
      { what: 'until another one has whose history nobody has open yet, p95', measured: ms(cold('firstOther')), target: '' },
      { what: 'until all twelve have, none of them open, p95', measured: ms(cold('all')), target: '' },
    ];
  } finally {
    temp.remove();
  }
}

function p95(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? NaN;
}

function ms(value: number): string {
  return `${value.toPrecision(3)} ms`;
}

async function task<K extends keyof EverywhereTasks>(
  name: K,
  given: Parameters<EverywhereTasks[K]>[0],
): Promise<Awaited<ReturnType<EverywhereTasks[K]>>> {
  const child = fork(join(builtTests, 'bench', 'everywhere', 'everywhereChild.js'), [name, JSON.stringify(given)]);
  let answer: { result: Awaited<ReturnType<EverywhereTasks[K]>> } | undefined;
  child.once('message', (message) => (answer = message as typeof answer));
  await once(child, 'exit');
  if (!answer) throw new Error(`The task ${name} failed; its output is above`);
  return answer.result;
}
