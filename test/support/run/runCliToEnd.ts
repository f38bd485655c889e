import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../paths';

export interface CliOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * How Node is to run the command line. Its four threads for what can be done beside take a third of the processor's time of a start on a
 * machine with two cores (0.31 s, and 0.20 s with one), and this starts hundreds of times.
 */
export const cliArgs = ['--v8-pool-size=1', join(projectRoot, 'dist', 'cli.js')] as const;

/** The command line in a process of its own, to its end; it is told nothing on its standard input. Never rejects. */
export function runCliToEnd(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<CliOutcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [...cliArgs, ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
    child.stdin?.end();
  });
}
