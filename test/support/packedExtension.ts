import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { builtTests, projectRoot } from './paths';
import { TestError } from './testError';

const execute = promisify(execFile);
let packed: Promise<string> | undefined;

/** Seconds since 1970: 1980-01-02, about the earliest that a zip file can say. With it the same files give the same bytes. */
const packedAt = '315619200';

/** The .vsix of what is built now, packed once a process; THREADKEEPER_VSIX names one that exists already. */
export function packedExtension(): Promise<string> {
  const given = process.env['THREADKEEPER_VSIX'];
  return (packed ??= given ? Promise.resolve(given) : packExtension(join(builtTests, 'threadkeeper.vsix')));
}

/** Packs what is built now, or another extension. Returns `vsix`. */
export async function packExtension(vsix: string, folder = projectRoot): Promise<string> {
  const vsce = join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const env = { ...process.env, SOURCE_DATE_EPOCH: packedAt };
  const args = [vsce, 'package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links', ...(folder === projectRoot ? [] : ['--skip-license']), '--out', vsix];
  await execute(process.execPath, args, { cwd: folder, env, maxBuffer: 10_000_000 }).catch((error: Error) => {
    throw new TestError(`the extension cannot be packed. ${error.message}`);
  });
  return vsix;
}
