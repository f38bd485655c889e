import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** The bundles run from dist/test/support. */
export const projectRoot = resolve(__dirname, '..', '..', '..');
export const builtTests = join(projectRoot, 'dist', 'test');
/** Screenshots and logs of failed runs; ignored by git. */
export const artifacts = join(projectRoot, 'test', 'artifacts');

/** Everything downloaded or kept between runs, outside the project so that a clean clone finds it again. */
export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const caches = env['XDG_CACHE_HOME'] ? resolve(env['XDG_CACHE_HOME']) : join(homedir(), '.cache');
  return env['THREADKEEPER_VSCODE_CACHE'] ? resolve(env['THREADKEEPER_VSCODE_CACHE']) : join(caches, 'threadkeeper-test');
}
