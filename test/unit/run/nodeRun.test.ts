import { deepStrictEqual, match } from 'node:assert';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../support/paths';
import { longFiles } from '../../support/run/longFiles';
import { runInNode } from '../../support/run/nodeRun';

describe('running test files side by side', () => {
  const folder = mkdtempSync(join(tmpdir(), 'threadkeeper-runner-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const fileOf = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  let printed = '';
  /** Of what failed the beginning, without folders and times. */
  const run = async (files: readonly string[], secondTries = 0, timeout = 5_000) => {
    printed = '';
    const options = { print: (text: string) => void (printed += text), secondTries };
    const result = await runInNode({ files, timeout }, new AbortController().signal, {}, options);
    const short = (failure: string) => failure.split(/\n|\. /)[0]!.replace(/\S*[\\/](?=\w+\.test\.js)|\d+(?=ms)/g, '');
    return { ...result, failures: result.failures.map(short).sort() };
  };

  it('adds up what each file says', async () => {
    const files = [
      fileOf('good.test.js', "it('holds', () => {}); it.skip('is left out', () => {});"),
      fileOf('bad.test.js', "it('does not hold', () => { throw new Error('as it should'); });"),
    ];
    deepStrictEqual(await run(files), { passed: 1, failed: 1, skipped: 1, failures: ['does not hold: as it should'] });
    match(printed, /as it should/);
  });

  it('counts a file that ends its process as a failure, and runs the others', async () => {
    const files = [
      fileOf('dies.test.js', "it('dies', () => process.exit(3));"),
      fileOf('after.test.js', "it('is run all the same', () => {});"),
    ];
    deepStrictEqual(await run(files), { passed: 1, failed: 1, skipped: 0, failures: ['The test process ended while dies.test.js ran'] });
    match(printed, /The test process ended while .*dies\.test\.js ran/);
  });

  it('ends a test that hangs', async () => {
    const files = [fileOf('hangs.test.js', "it('never ends', () => new Promise(() => setInterval(() => {}, 1_000).unref()));")];
    deepStrictEqual(await run(files, 0, 50), { passed: 0, failed: 1, skipped: 0, failures: ['never ends: Timeout of ms exceeded'] });
    match(printed, /Timeout of \d+ms exceeded/);
  });

  it('gives a file with failures a second try where that is asked for, and says so', async () => {
    const marker = JSON.stringify(join(folder, 'was-here'));
    const files = [
      fileOf(
        'unsteady.test.js',
        `const fs = require('node:fs'); const second = fs.existsSync(${marker}); fs.writeFileSync(${marker}, '');
         it('holds at the second try', () => { if (!second) throw new Error('too late'); });`,
      ),
    ];
    deepStrictEqual(await run(files, 1), { passed: 1, failed: 0, skipped: 0, failures: [] });
    match(printed, /UNSTEADY: .*unsteady\.test\.js failed at first/);
    rmSync(join(folder, 'was-here'));
    deepStrictEqual(await run([...files, fileOf('wrong.test.js', "it('never holds', () => { throw new Error('no'); });")], 1), {
      passed: 0,
      failed: 2,
      skipped: 0,
      failures: ['holds at the second try: too late', 'never holds: no'],
    });
  });

  it('begins with long files that are there', () => {
    deepStrictEqual(
      longFiles.filter((name) => !existsSync(join(projectRoot, 'test', `${name}.test.ts`))),
      [],
    );
  });

  it('counts a file that cannot be loaded as a failure, and runs the others', async () => {
    const files = [fileOf('broken.test.js', 'this is no program'), fileOf('next.test.js', "it('is run all the same', () => {});")];
    deepStrictEqual(await run(files), { passed: 1, failed: 1, skipped: 0, failures: ['broken.test.js cannot be run: broken.test.js:1'] });
    match(printed, /broken\.test\.js cannot be run: .*\n.*this is no program/);
  });
});
