import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../paths';

export interface CliOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command line in a process of its own, to its end; it is told nothing on its standard input. Never rejects. */
export function runCliToEnd(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<CliOutcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [join(projectRoot, 'dist', 'cli.js'), ...args], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
    child.stdin?.end();
  });
}
