import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { join, relative } from 'node:path';
import { longFiles } from './longFiles';
import type { ChildAnswer } from './mochaChild';
import type { MochaRun } from './mochaRun';
import { builtTests } from '../paths';
import { killTree } from './processes';
import { nothingRun, sum, testsIn, type SuiteResult } from './suiteResult';

/** How many files run at once: THREADKEEPER_TEST_JOBS, or one for each core, up to four, and those beside. */
function jobs(beside: number): number {
  const chosen = Number(process.env['THREADKEEPER_TEST_JOBS'] ?? '');
  return Number.isInteger(chosen) && chosen > 0 ? chosen : Math.min(4, availableParallelism()) + beside;
}

interface NodeRunOptions {
  readonly print?: (text: string) => void;
  readonly secondTries?: number;
  /** Of the processes: one of `os.constants.priority`. */
  readonly priority?: number;
  /** Files that run at once beside one for each core; 0 by default. */
  readonly beside?: number;
}

/** A second try for more files than this would hide that something is broken. */
const mostSecondTries = 4;

/**
 * Runs test files with mocha in Node processes, each of which takes the next file when it has done one. What a file prints comes in one
 * piece when it has ended. A process that dies, or cannot load a file, counts as one failure, and another one takes what is left.
 * Where CI is set, a file with failures is run once more when all others of its suite have ended, in a new process: a real window on a busy
 * machine is sometimes late. The second try counts, and what was unsteady is named. Rejects when `signal` ends it.
 */
export async function runInNode(
  run: MochaRun,
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = {},
  options: NodeRunOptions = {},
): Promise<SuiteResult> {
  const { print = (text: string) => void process.stdout.write(text), priority = constants.priority.PRIORITY_NORMAL } = options;
  const { beside = 0, secondTries = process.env['CI'] ? mostSecondTries : 0 } = options;
  // The long ones first, so that the last to end is a short one; a file's size is near enough for those that are not named.
  const rank = (file: string) => {
    const place = (longFiles as readonly string[]).indexOf(nameOf(file).replace(/\.test\.js$/, ''));
    return place === -1 ? longFiles.length : place;
  };
  const files = run.files
    .map((file) => ({ file, rank: rank(file), size: statSync(file).size }))
    .sort((a, b) => a.rank - b.rank || b.size - a.size)
    .map(({ file }) => file);
  const results = new Map<string, SuiteResult>();
  const work = async (queue: string[]) => {
    let child: TestProcess | null = null;
    for (let file = queue.shift(); file !== undefined && !signal.aborted; file = queue.shift()) {
      child ??= new TestProcess({ ...process.env, ...env }, signal, print, priority);
      const { result, isUsable } = await child.run({ ...run, files: [file] });
      results.set(file, result);
      if (!isUsable) child = null;
    }
    await child?.end();
  };
  await Promise.all(Array.from({ length: Math.min(jobs(beside), files.length) }, () => work(files)));
  const failed = [...results].filter(([, result]) => result.failed > 0).map(([file]) => file);
  if (failed.length <= secondTries) {
    for (const file of failed) {
      print(`\nA second try: ${nameOf(file)}\n`);
      await work([file]);
      if (results.get(file)?.failed === 0) print(`\nUNSTEADY: ${nameOf(file)} failed at first and passed at the second try.\n`);
    }
  }
  signal.throwIfAborted();
  return sum([...results.values()]);
}

function nameOf(file: string): string {
  return relative(builtTests, file).replaceAll('\\', '/');
}

class TestProcess {
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  private readonly kill = () => killTree(this.child.pid ?? 0);
  private printed = '';

  constructor(
    env: NodeJS.ProcessEnv,
    private readonly signal: AbortSignal,
    private readonly show: (text: string) => void,
    priority: number,
  ) {
    this.child = fork(join(builtTests, 'support', 'run', 'mochaChild.js'), { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    if (priority !== constants.priority.PRIORITY_NORMAL && this.child.pid) setPriority(this.child.pid, priority);
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.printed += text));
    this.exited = once(this.child, 'exit').finally(() => this.forget());
    signal.addEventListener('abort', this.kill);
    process.prependOnceListener('exit', this.kill);
  }

  /** Never rejects: what goes wrong is a failure of the file. */
  async run(run: MochaRun): Promise<{ readonly result: SuiteResult; readonly isUsable: boolean }> {
    const answer = new Promise<ChildAnswer | null>((resolve) => {
      this.child.once('message', (message) => resolve(message as ChildAnswer));
      void this.exited.then(() => resolve(null));
    });
    const began = Date.now();
    this.child.send(run);
    const heard = await answer;
    // Lines that were written before the answer may come behind it.
    await new Promise((resolve) => setTimeout(resolve, 20));
    const name = nameOf(run.files[0]!);
    if (heard && 'result' in heard) {
      // A file of which a pattern leaves nothing has nothing to say.
      if (testsIn(heard.result) === 0) this.printed = '';
      else this.print(`  ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s\n`);
      return { result: heard.result, isUsable: true };
    }
    const failure = heard ? `${name} cannot be run: ${heard.failure}` : `The test process ended while ${name} ran`;
    this.print(heard ? `\n${failure}` : `\n${failure}; its output is above.`);
    this.kill();
    return { result: { ...nothingRun, failed: 1, failures: [failure] }, isUsable: false };
  }

  async end(): Promise<void> {
    this.child.disconnect();
    await this.exited;
    this.print();
  }

  private print(more = ''): void {
    const text = `${this.printed}${more}`.trimEnd();
    if (text !== '') this.show(`${text.replace(/\n{3,}/g, '\n\n')}\n`);
    this.printed = '';
  }

  private forget(): void {
    this.signal.removeEventListener('abort', this.kill);
    process.off('exit', this.kill);
    if (this.signal.aborted) this.print();
  }
}
