import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'node:util';
import type { SuiteResult } from './suiteResult';

/** What a process needs to run one suite; travels in the environment, since an extension host takes no arguments. */
export interface MochaRun {
  /** Where the built tests of the suite are. */
  readonly folder: string;
  /** Where the result is written; a missing file means that the process died. */
  readonly resultFile: string;
  /** Milliseconds for one test that does not set its own. */
  readonly timeout: number;
  readonly grep?: string;
}

const variable = 'THREADKEEPER_MOCHA_RUN';

export function toEnv(run: MochaRun): NodeJS.ProcessEnv {
  return { [variable]: JSON.stringify(run) };
}

export function fromEnv(env: NodeJS.ProcessEnv): MochaRun {
  const text = env[variable];
  if (!text) throw new Error(`${variable} is not set; run the tests with "npm test" or "npm run test:…".`);
  return JSON.parse(text) as MochaRun;
}

/** Every built test file below `folder`; an absent folder has none. */
function testFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => name.endsWith('.test.js')).sort().map((name) => join(folder, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Runs the suite in this process and writes the result file. Rejects when a test file cannot be loaded. */
export async function runMocha(run: MochaRun, print: (line: string) => void = (line) => console.log(line)): Promise<SuiteResult> {
  process.setSourceMapsEnabled(true);
  // mocha is an ES module: `import()` works in every extension host, `require` only in those of newer Node.
  const { default: Mocha } = await import('mocha');
  // Replacing `console.log` has no effect in an extension host.
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => format(...args).split('\n').forEach(print);
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: run.timeout,
    slow: run.timeout / 2,
    forbidOnly: Boolean(process.env['CI']),
    ...(run.grep ? { grep: run.grep } : {}),
  });
  for (const file of testFiles(run.folder)) mocha.addFile(file);
  // Files are loaded by `run()`, synchronously through `require`, where VS Code hands out the `vscode` module.
  const result = await new Promise<SuiteResult>((resolve) => {
    const runner = mocha.run(() => resolve(resultOf(runner.stats)));
  });
  writeFileSync(run.resultFile, JSON.stringify(result));
  return result;
}

function resultOf(stats: Mocha.Stats | undefined): SuiteResult {
  return { passed: stats?.passes ?? 0, failed: stats?.failures ?? 0, skipped: stats?.pending ?? 0 };
}
