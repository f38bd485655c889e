import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { testFiles } from './mochaRun';
import { patience } from './patience';
import { nothingRun, sum, testsIn, totalLine, type SuiteResult } from './suiteResult';
import { isSpeed, speeds, type Speed, type Suite } from './suites';
import { TestError } from '../testError';

const usage = 'runSuites [unit|webview|vscode|desktop|agents …] [FILE …] [--grep <pattern>]; without a suite: unit, webview and vscode';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true });
  const named = positionals.filter(isSpeed);
  const chosen: readonly Speed[] = named.length > 0 ? named : ['unit', 'webview', 'vscode'];
  const wanted = positionals.filter((name) => !isSpeed(name));

  useScratchFolder();
  const began = Date.now();
  const suites = chosen.flatMap((name): readonly Suite[] => speeds[name]);
  const results = new Map<Suite, SuiteResult>();
  const inTurn = async (lane: readonly Suite[]) => {
    for (const suite of lane) results.set(suite, await runSuite(suite, wanted, values.grep));
  };
  const lanes = sideBySide(suites);
  await Promise.all(lanes.map(inTurn));
  const total = sum([...results.values()]);
  if (lanes.length > 1) {
    console.log(`\nTogether in ${((Date.now() - began) / 60_000).toFixed(1)} minutes:`);
    for (const suite of suites) console.log(`  ${suite.name}: ${totalLine(results.get(suite) ?? nothingRun)}`);
  }
  // Whoever has only the end of a long log can still tell what to mend.
  if (total.failures.length > 0) console.log(`\nFailed:\n${total.failures.map((failure) => `  ${failure}\n`).join('')}`);
  const isEmpty = testsIn(total) === 0;
  if (isEmpty) console.log(`No test was run. Usage: ${usage}`);
  // The exit waits for the line: a pipe takes it asynchronously.
  process.stdout.write(`\n${totalLine(total)}\n`, () => process.exit(total.failed > 0 || isEmpty ? 1 : 0));
}

/**
 * A VS Code waits for a part of its time, for its own processes and for what a test lets pass: what can give way to it runs beside it, with
 * a lower priority. On two cores all suites took 993 s one behind the other, and 828 s so; time limits go by how busy it is (patience.ts).
 */
function sideBySide(suites: readonly Suite[]): readonly (readonly Suite[])[] {
  const lanes = [suites.filter(({ givesWay }) => !givesWay), suites.filter(({ givesWay }) => givesWay)].filter((lane) => lane.length > 0);
  return availableParallelism() > 1 ? lanes : [suites];
}

/** The files of a suite; with names, those whose path contains one of them (`test/unit/store/sharing/lease.test.ts`, or `lease`). */
function filesOf(suite: Suite, wanted: readonly string[]): string[] {
  const names = wanted.map((name) => name.replace(/\.ts$/, '').replace(/^.*\btest\//, ''));
  const files = testFiles(suite.folder);
  return names.length === 0 ? files : files.filter((file) => names.some((name) => file.replaceAll('\\', '/').includes(name)));
}

/** A suite that cannot start, hangs, dies or is empty counts as one failure more. */
async function runSuite(suite: Suite, wanted: readonly string[], grep: string | undefined): Promise<SuiteResult> {
  const files = filesOf(suite, wanted);
  if (wanted.length > 0 && files.length === 0) return nothingRun;
  console.log(`\n=== ${suite.name}`);
  const started = Date.now();
  let result = nothingRun;
  try {
    if (files.length === 0) throw new TestError(`no tests found in ${suite.folder}; is the build complete?`);
    const run = { files, timeout: suite.testTimeout, ...(grep === undefined ? {} : { grep }) };
    result = await withDeadline(suite, (signal) => suite.run(run, signal));
  } catch (error) {
    const failure = `The suite "${suite.name}" failed: ${explain(error)}`;
    result = { ...nothingRun, failed: 1, failures: [failure] };
    console.log(`\n${failure}`);
  }
  console.log(`=== ${suite.name}: ${testsIn(result)} tests in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return result;
}

/** Temporary files of the run go where they are removed with it, even those of processes that were killed. */
function useScratchFolder(): void {
  const scratch = mkdtempSync(join(scratchRoot(), 'tk-'));
  // Some tests look on as another user: who may not read it has to get through it.
  chmodSync(scratch, 0o711);
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = scratch;
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
}

/** Every commit of a store waits for its disk: files lie in memory where Linux has room for them there and TMPDIR is not set. */
function scratchRoot(): string {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (process.env['TMPDIR'] === undefined && process.platform === 'linux' && bavail * bsize >= 4_000_000_000) return memory;
  } catch {
    // There is none.
  }
  return tmpdir();
}

async function withDeadline<T>(suite: Suite, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const began = Date.now();
  /** Minutes, each counted by how busy the machine was in it: others join a suite that has begun, and leave it. */
  let used = 0;
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    const look = () => {
      used += 1 / patience();
      if (used < suite.minutes) return void (timer = setTimeout(look, 60_000));
      const minutes = Math.round((Date.now() - began) / 60_000);
      const error = new TestError(
        `it did not end within ${minutes} minutes and was stopped. Each test is named when it ends: what hangs comes after the last names above.`,
      );
      controller.abort(error);
      reject(error);
    };
    timer = setTimeout(look, 60_000);
  });
  try {
    return await Promise.race([action(controller.signal), expired]);
  } finally {
    clearTimeout(timer);
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = TestError.is(error) ? error.message : (error.stack ?? error.message);
  return error.cause === undefined ? text : `${text}\nCaused by: ${explain(error.cause)}`;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

main().catch((error: unknown) => {
  console.error(explain(error));
  process.exit(1);
});
