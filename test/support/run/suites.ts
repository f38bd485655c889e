import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInDesktop } from '../vscode/desktop';
import { runInExtensionHost } from '../vscode/hostRun';
import type { MochaRun, RemoteRun } from './mochaRun';
import { runInNode } from './nodeRun';
import { packedExtension } from '../vscode/packedExtension';
import { builtTests } from '../paths';
import { parseResult, sum, type SuiteResult } from './suiteResult';
import { canRunServer, chosenVersion } from '../vscode/vscodeInstall';

/** Tests of one folder that run in one place. */
export interface Suite {
  readonly name: string;
  readonly folder: string;
  /** Milliseconds for a test that does not set its own. */
  readonly testTimeout: number;
  /** Minutes until a suite that hangs is ended: at least three times what it takes on two quiet cores beside the others. */
  readonly minutes: number;
  /** It can run beside a suite that drives windows, with what that leaves of the processor. */
  readonly givesWay?: true;
  /** Runs the files, which lie in `folder`; rejects when that cannot be begun or is ended. */
  readonly run: (run: MochaRun, signal: AbortSignal) => Promise<SuiteResult>;
}

/**
 * Tests without windows wait for a third of their time, for timers, disks and other processes: on two cores the unit suite took 707 s with
 * two files at once, and 448 s with three. A VS Code takes one and a half cores by itself.
 */
const yielding: Suite['run'] = (run, signal) =>
  runInNode(run, signal, {}, { priority: constants.priority.PRIORITY_BELOW_NORMAL, beside: 1 });

const unit: Suite = { name: 'unit', folder: join(builtTests, 'unit'), testTimeout: 40_000, minutes: 60, givesWay: true, run: yielding };

const webview: Suite = {
  name: 'webview',
  folder: join(builtTests, 'webview'),
  testTimeout: 30_000,
  minutes: 40,
  givesWay: true,
  run: yielding,
};

const host: Suite = {
  name: 'vscode, inside the extension host',
  folder: join(builtTests, 'vscode', 'host'),
  testTimeout: 60_000,
  minutes: 10,
  run: byResultFile(runInExtensionHost),
};

const ui: Suite = {
  name: 'vscode, user interface',
  folder: join(builtTests, 'vscode', 'ui'),
  testTimeout: 180_000,
  minutes: 60,
  run: async (run, signal) => runInNode(run, signal, { THREADKEEPER_VSIX: await packedExtension(), TZ: morningZone() }),
};

/** What nobody can do without, on the oldest VS Code that the manifest admits: THREADKEEPER_VSCODE_VERSION runs everything on it. */
const oldest: Suite = {
  ...ui,
  name: 'vscode 1.100, core flows',
  minutes: 10,
  run: async (run, signal) =>
    runInNode({ ...run, grep: run.grep ?? '^(a conversation|a fresh profile)' }, signal, {
      THREADKEEPER_VSIX: await packedExtension(),
      TZ: morningZone(),
      THREADKEEPER_VSCODE_VERSION: '1.100',
    }),
};

/** Real programs of others, from npm: large, and one at a time. */
const agents: Suite = {
  name: 'agents, the real programs',
  folder: join(builtTests, 'agents'),
  testTimeout: 240_000,
  minutes: 45,
  run: async (run, signal) => {
    const results: SuiteResult[] = [];
    for (const file of run.files) results.push(await runInNode({ ...run, files: [file] }, signal));
    return sum(results);
  },
};

const desktop: Suite = { ...host, name: 'desktop', run: byResultFile(runInDesktop) };

/** What each argument of `runSuites` stands for; `npm test` runs the first three. */
export const speeds = {
  unit: [unit],
  webview: [webview],
  vscode: canRunServer() ? [host, ui, ...(chosenVersion() === '1.100' ? [] : [oldest])] : [desktop],
  desktop: [desktop],
  agents: [agents],
} as const;

export type Speed = keyof typeof speeds;

export function isSpeed(name: string): name is Speed {
  return Object.hasOwn(speeds, name);
}

/** A time zone in which it is about six in the morning: what a window lists under "Today" stays there until the run has ended. */
function morningZone(): string {
  const hours = ((6 - new Date().getUTCHours() + 36) % 24) - 12;
  // The sign of these names is turned round: Etc/GMT-3 is UTC+3.
  return `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`;
}

/** Gives a run in an extension host the file by which it answers. */
function byResultFile(start: (run: RemoteRun, signal: AbortSignal) => Promise<void>): Suite['run'] {
  return async (run, signal) => {
    const work = await mkdtemp(join(tmpdir(), 'threadkeeper-result-'));
    try {
      const resultFile = join(work, 'result.json');
      await start({ ...run, resultFile }, signal);
      return parseResult(await readFile(resultFile, 'utf8'));
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  };
}
