import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { artifacts, builtTests, projectRoot } from '../support/paths';
import { benchReport, notesOf, withoutNote, type BenchTable } from './benchReport';
import { yardstick } from '../support/yardstick';

/** What a file `*.bench.ts` exports: rows of one table, ratios rather than times where it can. */
interface Bench {
  run(): unknown[] | Promise<unknown[]>;
  /** It takes so long that it runs only when it is named. */
  readonly onlyNamed?: true;
}

/** `node dist/test/bench/runBenches.js [name…]`: every benchmark, or those whose file name contains one of the words. */
async function main(words: readonly string[]): Promise<void> {
  const folder = join(builtTests, 'bench');
  const files = (await readdir(folder)).filter(
    (file) => file.endsWith('.bench.js') && (words.length === 0 || words.some((word) => file.includes(word))),
  );
  const results: Record<string, BenchTable> = {};
  for (const file of files.sort()) {
    const name = file.replace('.bench.js', '');
    let table: BenchTable;
    try {
      const { run, onlyNamed } = (await import(join(folder, file))) as Bench;
      if (onlyNamed && words.length === 0) continue;
      const before = yardstick();
      const rows = await run();
      table = { rows, yardstick: [before, yardstick()] };
    } catch (error) {
      // The others take half an hour, and do not depend on it; its table stays the one of before.
      console.error(`\n${name} failed`, error);
      process.exitCode = 1;
      continue;
    }
    results[name] = table;
    console.log(`\n${name}, yardstick ${table.yardstick.map((ms) => ms.toFixed(1)).join(' and ')} ms`);
    console.table(table.rows.map(withoutNote));
    for (const note of notesOf(table.rows)) console.log(note);
    // What was measured in half an hour is not lost by a later one that fails.
    await report(results);
  }
  if (files.length === 0) throw new Error(`No benchmark matches ${words.join(', ')}`);
  await mkdir(artifacts, { recursive: true });
  await writeFile(
    join(artifacts, 'bench.json'),
    `${JSON.stringify({ node: process.version, at: new Date().toISOString(), results }, null, 2)}\n`,
  );
}

/** Into the documents, but for runs that are cut short. */
async function report(results: Readonly<Record<string, BenchTable>>): Promise<void> {
  if (process.argv.some((word) => word.startsWith('-'))) return;
  const { version, dependencies } = JSON.parse(await readFile(join(projectRoot, 'package.json'), 'utf8')) as {
    version: string;
    dependencies: Record<string, string>;
  };
  const versions = [
    `Threadkeeper ${version}`,
    `Node ${process.versions.node}`,
    `sql.js ${dependencies['sql.js']}`,
    `${availableParallelism()} cores`,
  ];
  const file = join(projectRoot, 'docs', 'benchmarks.md');
  const page = await readFile(file, 'utf8').catch(() => '');
  await writeFile(file, benchReport(page, results, { date: new Date().toISOString().slice(0, 10), versions }));
}

// Words that begin with a dash are for the benchmarks.
main(process.argv.slice(2).filter((word) => !word.startsWith('-'))).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
