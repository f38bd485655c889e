import { deepStrictEqual } from 'node:assert';
import type { CliRun } from './run/cliRun';
import { patience } from './run/patience';

/** Milliseconds on a quiet machine; none that is not stuck takes so long. */
const endMs = 10_000;

/** Ends programs as their users do, by the end of their input. One that does not end is killed, and is a failure. */
export async function endRuns(runs: CliRun[]): Promise<void> {
  const stuck: string[] = [];
  const ended = runs.splice(0).map(async (run) => {
    const timer = setTimeout(() => {
      stuck.push(run.stderr);
      run.kill();
    }, endMs * patience());
    run.end();
    await run.exited;
    clearTimeout(timer);
  });
  await Promise.all(ended);
  deepStrictEqual(stuck, [], 'it does not end with its input');
}
