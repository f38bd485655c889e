import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** Every test is a bundle of its own at its own depth under dist/test, so the root is looked for. */
export const projectRoot = rootAbove(__dirname);
export const builtTests = join(projectRoot, 'dist', 'test');
/** Screenshots and logs of failed runs; ignored by git. */
export const artifacts = join(projectRoot, 'test', 'artifacts');

/** Everything downloaded or kept between runs, outside the project so that a clean clone finds it again. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const caches = env['XDG_CACHE_HOME'] ? resolve(env['XDG_CACHE_HOME']) : join(homedir(), '.cache');
  return env['THREADKEEPER_VSCODE_CACHE'] ? resolve(env['THREADKEEPER_VSCODE_CACHE']) : join(caches, 'threadkeeper-test');
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  return rootAbove(dirname(folder));
}
