import { mkdtempSync, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nothingRun, parseResult, sum, testsIn, totalLine, type SuiteResult } from './suiteResult';
import { isSpeed, speeds, type Speed, type Suite } from './suites';
import { TestError } from './testError';

/** V8's counters (`npm run coverage`) make some programs this many times as slow as they are. */
const patience = process.env['NODE_V8_COVERAGE'] === undefined ? 1 : 6;

const usage = 'runSuites [unit|webview|vscode|desktop …] [--grep <pattern>]; without a name: unit, webview and vscode';

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { grep: { type: 'string' } }, allowPositionals: true });
  const unknown = positionals.filter((name) => !isSpeed(name));
  if (unknown.length > 0) throw new TestError(`Unknown suite: ${unknown.join(', ')}. Usage: ${usage}`);
  const chosen: readonly Speed[] = positionals.length > 0 ? positionals.filter(isSpeed) : ['unit', 'webview', 'vscode'];

  useScratchFolder();
  const results: SuiteResult[] = [];
  for (const suite of chosen.flatMap((name) => speeds[name])) results.push(await runSuite(suite, values.grep));
  const total = sum(results);
  const failed = total.failed > 0 || testsIn(total) === 0;
  // The exit waits for the line: a pipe takes it asynchronously.
  process.stdout.write(`\n${totalLine(total)}\n`, () => process.exit(failed ? 1 : 0));
}

/** A suite that cannot start, hangs, dies or is empty counts as one failure more. */
async function runSuite(suite: Suite, grep: string | undefined): Promise<SuiteResult> {
  console.log(`\n=== ${suite.name}`);
  const started = Date.now();
  const work = await mkdtemp(join(tmpdir(), 'threadkeeper-result-'));
  const resultFile = join(work, 'result.json');
  let result = nothingRun;
  let broken = 0;
  try {
    const run = { folder: suite.folder, resultFile, timeout: suite.testTimeout * patience, ...(grep === undefined ? {} : { grep }) };
    await withDeadline(suite, (signal) => suite.run(run, signal));
    result = parseResult(await readFile(resultFile, 'utf8'));
    if (testsIn(result) === 0 && grep === undefined) throw new TestError(`no tests found in ${suite.folder}; is the build complete?`);
  } catch (error) {
    broken = 1;
    console.log(`\nThe suite "${suite.name}" failed: ${explain(error)}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  console.log(`=== ${suite.name}: ${testsIn(result)} tests in ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return sum([result, { ...nothingRun, failed: broken }]);
}

/** Temporary files of the run go where they are removed with it, even those of processes that were killed. */
function useScratchFolder(): void {
  const scratch = mkdtempSync(join(tmpdir(), 'tk-'));
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) process.env[name] = scratch;
  process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
}

async function withDeadline(suite: Suite, action: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  const minutes = suite.minutes * patience;
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TestError(`it did not end within ${minutes} minutes and was stopped. Each test is named when it ends: the one that hangs comes after the last name above.`);
      controller.abort(error);
      reject(error);
    }, minutes * 60_000);
  });
  try {
    await Promise.race([action(controller.signal), expired]);
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
