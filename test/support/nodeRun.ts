import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { toEnv, type MochaRun } from './mochaRun';
import { builtTests } from './paths';
import { killTree } from './processes';

/** Runs a suite with mocha in a Node process of its own. Rejects when `signal` ends it or mocha cannot load a file. */
export async function runInNode(run: MochaRun, signal: AbortSignal, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const child = fork(join(builtTests, 'support', 'mochaChild.js'), { env: { ...process.env, ...env, ...toEnv(run) } });
  const kill = () => killTree(child.pid ?? 0);
  signal.addEventListener('abort', kill);
  process.prependOnceListener('exit', kill);
  const [code, ended] = (await once(child, 'exit')) as [number | null, string | null];
  signal.removeEventListener('abort', kill);
  process.off('exit', kill);
  signal.throwIfAborted();
  if (code !== 0) throw new Error(`The test process ended with ${ended ?? `code ${code}`}; its output is above.`);
}
