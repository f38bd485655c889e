import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import { patience } from './patience';
import type { SuiteResult } from './suiteResult';

/** What a process needs to run test files with mocha; must survive JSON. */
export interface MochaRun {
  /** Built test files, by their paths. */
  readonly files: readonly string[];
  /** Milliseconds for one test that does not set its own, on a quiet machine. */
  readonly timeout: number;
  readonly grep?: string;
}

/** A run in a process that can be given its environment only: an extension host takes no arguments and answers by a file. */
export interface RemoteRun extends MochaRun {
  /** Where the result is written; a missing file means that the process died. */
  readonly resultFile: string;
}

const variable = 'THREADKEEPER_MOCHA_RUN';

export function toEnv(run: RemoteRun): NodeJS.ProcessEnv {
  return { [variable]: JSON.stringify(run) };
}

export function fromEnv(env: NodeJS.ProcessEnv): RemoteRun {
  const text = env[variable];
  if (!text) throw new Error(`${variable} is not set; run the tests with "npm test" or "npm run test:…".`);
  return JSON.parse(text) as RemoteRun;
}

/** Every built test file below `folder`; an absent folder has none. */
export function testFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names
      .filter((name) => name.endsWith('.test.js'))
      .sort()
      .map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

let patientMocha: ReturnType<typeof loadMocha> | undefined;

/** mocha with limits that are longer on a busy machine, those of tests that set their own too. */
async function loadMocha() {
  // It is an ES module: `import()` works in every extension host, `require` only in those of newer Node.
  const { default: Mocha } = await import('mocha');
  const { prototype } = Mocha.Runnable;
  const { timeout: limit } = prototype as { timeout(this: Mocha.Runnable, ms?: string | number): unknown };
  prototype.timeout = function (this: Mocha.Runnable, ms?: string | number) {
    return ms === undefined ? Math.round(Number(limit.call(this)) * patience()) : limit.call(this, ms);
  } as typeof prototype.timeout;
  return Mocha;
}

/** Runs the files in this process, one behind the other. Rejects when one cannot be loaded. */
export async function runMocha(run: MochaRun, print: (line: string) => void = (line) => console.log(line)): Promise<SuiteResult> {
  process.setSourceMapsEnabled(true);
  const Mocha = await (patientMocha ??= loadMocha());
  // Replacing `console.log` has no effect in an extension host.
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) =>
    format(...args)
      .split('\n')
      .forEach(print);
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: run.timeout,
    slow: Number(process.env['THREADKEEPER_TEST_SLOW'] ?? run.timeout / 2),
    forbidOnly: Boolean(process.env['CI']),
    ...(run.grep ? { grep: run.grep } : {}),
  });
  for (const file of run.files) mocha.addFile(file);
  // Files are loaded by `run()`, synchronously through `require`, where VS Code hands out the `vscode` module.
  const result = await new Promise<SuiteResult>((resolve) => {
    const failures: string[] = [];
    const runner = mocha.run(() => resolve(resultOf(runner.stats, failures)));
    runner.on('fail', (test, error: unknown) =>
      failures.push(`${test.fullTitle()}: ${error instanceof Error ? error.message : String(error)}`),
    );
  });
  // It listens for what nobody catches until it is told that it is done with.
  mocha.dispose();
  return result;
}

export async function runRemotely(run: RemoteRun, print: (line: string) => void): Promise<SuiteResult> {
  const result = await runMocha(run, print);
  writeFileSync(run.resultFile, JSON.stringify(result));
  return result;
}

function resultOf(stats: Mocha.Stats | undefined, failures: readonly string[]): SuiteResult {
  return { passed: stats?.passes ?? 0, failed: stats?.failures ?? 0, skipped: stats?.pending ?? 0, failures };
}
