import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { cacheFolder, projectRoot } from '../paths';
import { keepWorkspace } from '../pictures/sampleWorkspace';
import { TestError } from '../testError';
import { canRunServer } from './vscodeInstall';
import { startVscodeServer } from './vscodeServer';
import { addressOf } from './workbench';

/** The browser keeps what it remembers of a window by address, so the port is the same at every start where it can be. */
const usualPort = 7420;

/** `npm start`: VS Code with the built extension, on a sample project that keeps its state from start to start. */
async function start(): Promise<void> {
  const home = join(cacheFolder(), 'start');
  const folder = join(home, 'tidewater');
  await keepWorkspace(folder);
  if (openedDesktop(folder)) {
    console.log(`VS Code opens ${folder} with Threadkeeper. After a change: npm run build, then "Developer: Reload Window".`);
    return;
  }
  if (!canRunServer()) {
    throw new TestError(
      'The "code" command was not found. In VS Code run "Shell Command: Install \'code\' command in PATH", then npm start again.',
    );
  }
  const server = await startVscodeServer({
    dataFolder: join(home, 'vscode'),
    inPlace: projectRoot,
    port: (await isFree(usualPort)) ? usualPort : 0,
  });
  const wait = interrupted();
  console.log(`
VS Code with Threadkeeper runs at

    ${addressOf(server, folder)}

Open that address in a browser; Ctrl+C ends it.
After a change: npm run build, then "Developer: Reload Window".
`);
  await wait;
  await server.stop();
}

/** False when there is no `code` command, or when it refuses, as it does for root. */
function openedDesktop(folder: string): boolean {
  const args = [`--extensionDevelopmentPath=${projectRoot}`, folder];
  const shell = process.platform === 'win32';
  const quoted = shell ? args.map((arg) => `"${arg}"`) : args;
  return spawnSync('code', quoted, { stdio: ['ignore', 'ignore', 'inherit'], shell }).status === 0;
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

start().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(TestError.is(error) ? error.message : error);
    process.exit(1);
  },
);
