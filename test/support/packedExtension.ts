import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtTests, projectRoot } from './paths';
import { TestError } from './testError';

const execute = promisify(execFile);
let packed: Promise<string> | undefined;

/** The .vsix of what is built now, packed once a process; THREADKEEPER_VSIX names one that exists already. */
export function packedExtension(): Promise<string> {
  const given = process.env['THREADKEEPER_VSIX'];
  return (packed ??= given ? Promise.resolve(given) : pack());
}

async function pack(): Promise<string> {
  const vsix = join(builtTests, 'threadkeeper.vsix');
  const vsce = join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const args = [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', '--out', vsix];
  await execute(process.execPath, args, { cwd: projectRoot, maxBuffer: 10_000_000 }).catch((error: Error) => {
    throw new TestError(`the extension cannot be packed. ${error.message}`);
  });
  return vsix;
}
