import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { downloadAndUnzipVSCode, runTests, SilentReporter } from '@vscode/test-electron';
import { hostMain } from './hostRun';
import { toEnv, type RemoteRun } from '../run/mochaRun';
import { cacheFolder, projectRoot } from '../paths';
import { descendants, killTree } from '../run/processes';
import { temporaryWorkspace } from '../pictures/sampleWorkspace';
import { TestError } from '../testError';

/** Runs a suite inside the extension host of a desktop VS Code. Rejects with a TestError where there is none. */
export async function runInDesktop(run: RemoteRun, signal: AbortSignal): Promise<void> {
  if (process.platform === 'linux' && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) {
    throw new TestError('The desktop run needs a display. Without one, put a virtual one in front: xvfb-run -a npm run test:desktop');
  }
  const executable = await findDesktop();
  const workspace = await temporaryWorkspace();
  // Short, because VS Code puts sockets there and a socket's path holds 103 characters only.
  const profile = await mkdtemp(join(tmpdir(), 'tk-'));
  const end = () => descendants(process.pid).forEach((info) => killTree(info.pid));
  signal.addEventListener('abort', end);
  try {
    await runTests({
      vscodeExecutablePath: executable,
      extensionDevelopmentPath: projectRoot,
      extensionTestsPath: hostMain,
      extensionTestsEnv: toEnv(run),
      launchArgs: [workspace.folder, `--user-data-dir=${profile}`, `--extensions-dir=${join(profile, 'extensions')}`],
    }).catch((error: unknown) => {
      // Failed tests end VS Code with a code, too; they are known from the result file.
      if (!existsSync(run.resultFile)) throw error;
    });
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', end);
    await workspace.remove();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function findDesktop(): Promise<string> {
  const chosen = process.env['VSCODE_EXECUTABLE'];
  if (chosen) {
    if (existsSync(chosen)) return chosen;
    throw new TestError(`VSCODE_EXECUTABLE is "${chosen}", which does not exist.`);
  }
  const cachePath = join(cacheFolder(), 'desktop');
  await mkdir(cachePath, { recursive: true });
  console.log(`Looking for desktop VS Code in ${cachePath}; it is downloaded when it is not there …`);
  return downloadAndUnzipVSCode({ version: 'stable', cachePath, reporter: new SilentReporter() }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TestError(
      `Desktop VS Code cannot be downloaded here (${reason}). ` +
        'Set VSCODE_EXECUTABLE to the executable of an installed VS Code, not to its "code" script, and run npm run test:desktop again.',
    );
  });
}
