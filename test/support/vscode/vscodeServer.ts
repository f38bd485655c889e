import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { descendants, endTree, killTree, type ProcessInfo } from '../run/processes';
import { installVscode, type VscodeInstall, type VscodeVersion } from './vscodeInstall';
import { waitFor } from '../waitFor';

export interface ServerOptions {
  version?: VscodeVersion;
  /** Added to this process's environment; undefined removes a variable. The extension host inherits it. */
  env?: NodeJS.ProcessEnv;
  /** User settings on top of the quiet ones (no trust dialog, no telemetry, no welcome page, no other chat). */
  settings?: Record<string, unknown>;
  /** Reads `extensionDevelopmentPath` and `extensionTestsPath` from the address; 1.139 then hides notification toasts. */
  development?: boolean;
  /** Packed extensions to install before the start. */
  vsix?: readonly string[];
  /** Of VS Code's own extensions only `neededBuiltins`. */
  fewBuiltins?: boolean;
  /** A folder that counts as installed extension where it is: a reload of the window takes what was built since. */
  inPlace?: string;
  /** 0, the default, is a free one. */
  port?: number;
  /** Where server data, settings and extensions live; a temporary folder, removed at the end, by default. */
  dataFolder?: string;
}

/**
 * Colors, icons, the languages of the sample workspace, and one that reports mistakes. Of a start with all 90 extensions of VS Code's own,
 * 2 s of 11 s of the processor went to what no test looks at, and the work of the other language servers came on top.
 */
const neededBuiltins = [
  'javascript',
  'json',
  'json-language-features',
  'markdown-basics',
  'shellscript',
  'theme-defaults',
  'theme-modern-icons',
  'theme-seti',
  'typescript-basics',
];

const quietSettings = {
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

/**
 * Extension hosts notice the end of their server within a second, and go on for what they have to write: nobody waits for that where the
 * folder goes with them. Under `npm run coverage` they report what they have run.
 */
function graceOf(temporary: boolean): number {
  if (process.env['NODE_V8_COVERAGE'] !== undefined) return 15_000;
  return temporary ? 0 : 1_000;
}

/** A running VS Code server on a free port of the loopback interface. */
export interface VscodeServer {
  readonly port: number;
  readonly pid: number;
  readonly install: VscodeInstall;
  readonly development: boolean;
  readonly dataFolder: string;
  /** Extension host processes, one for each connected window, oldest first. */
  extensionHosts(): ProcessInfo[];
  /** What the server printed so far. */
  output(): string;
  /** Replaces the user settings on disk; open windows follow on their own, with settings of application scope when they are reloaded. */
  writeSettings(settings: Record<string, unknown>): Promise<void>;
  /** Ends the server with its children and removes a temporary data folder. Safe to call twice. */
  stop(): Promise<void>;
}

/** Installs VS Code if needed and resolves when the workbench page is served; rejects with the server's output. */
export async function startVscodeServer(options: ServerOptions = {}): Promise<VscodeServer> {
  const install = await installVscode(options.version);
  const temporary = options.dataFolder === undefined;
  const dataFolder = options.dataFolder ?? (await mkdtemp(join(tmpdir(), 'threadkeeper-vscode-')));
  const extensions = join(dataFolder, 'extensions');
  const args = serverArgs(install, dataFolder, extensions);
  if (options.fewBuiltins) args.push('--builtin-extensions-dir', await copiedBuiltins(install));
  // What other agents have written on this machine is nobody's business here, and would stand in the views.
  const home = join(dataFolder, 'home');
  if (temporary) await mkdir(home, { recursive: true });
  const env = definedOnly({ ...process.env, ...(temporary ? { HOME: home, USERPROFILE: home } : {}), ...options.env });
  const writeSettings = (settings: Record<string, unknown>) => saveSettings(dataFolder, { ...quietSettings, ...settings });
  const development = options.development ?? false;

  // A data folder that is kept has a user whose settings are not ours to replace.
  if (options.settings || !existsSync(settingsFile(dataFolder, 'User'))) await writeSettings(options.settings ?? {});
  if (options.inPlace) await installInPlace(extensions, options.inPlace);
  const vsix = options.vsix ?? [];
  if (vsix.length > 0 && !existsSync(extensions)) await cp(await unpacked(install, vsix, env), extensions, { recursive: true });
  else await installExtensions(install.node, args, vsix, env);

  const listen = ['--host', '127.0.0.1', '--port', String(options.port ?? 0), '--without-connection-token'];
  const driver = development && install.release.knowsSmokeTestDriver ? ['--enable-smoke-test-driver'] : [];
  const child = spawn(install.node, [...args, ...listen, ...driver], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collectOutput(child);
  const pid = child.pid ?? 0;
  const killNow = () => killTree(pid);
  process.prependOnceListener('exit', killNow);

  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= end());
  async function end(): Promise<void> {
    await endTree(pid, graceOf(temporary));
    process.off('exit', killNow);
    if (temporary) await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  }

  try {
    const port = await waitFor('the VS Code server to listen', () => portOf(child, output()));
    await waitFor('the workbench page', async () => (await fetch(`http://127.0.0.1:${port}/`)).ok);
    const extensionHosts = () => descendants(pid).filter((info) => info.command.includes('--type=extensionHost'));
    return { port, pid, install, development, dataFolder, extensionHosts, output, writeSettings, stop };
  } catch (error) {
    await stop();
    throw new Error(`The VS Code server did not start. It printed:\n${output()}`, { cause: error });
  }
}

function serverArgs(install: VscodeInstall, dataFolder: string, extensions: string): string[] {
  return [
    install.serverMain,
    '--accept-server-license-terms',
    '--server-data-dir',
    dataFolder,
    '--extensions-dir',
    extensions,
    '--telemetry-level',
    'off',
  ];
}

let builtins: Promise<string> | undefined;

function copiedBuiltins({ builtinExtensions }: VscodeInstall): Promise<string> {
  return (builtins ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-builtins-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    const there = neededBuiltins.filter((name) => existsSync(join(builtinExtensions, name)));
    for (const name of there) await cp(join(builtinExtensions, name), join(folder, name), { recursive: true });
    return folder;
  })());
}

const templates = new Map<string, Promise<string>>();

/**
 * An extensions folder in which VS Code has installed these packages, to be copied: an installation takes 2 s, and every suite begins with
 * one.
 */
function unpacked(install: VscodeInstall, vsix: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const key = [install.serverMain, ...vsix].join('\n');
  const template = templates.get(key) ?? makeTemplate(install, vsix, env);
  templates.set(key, template);
  return template;
}

async function makeTemplate(install: VscodeInstall, vsix: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'threadkeeper-extensions-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await installExtensions(install.node, serverArgs(install, join(folder, 'data'), join(folder, 'extensions')), vsix, env);
  return join(folder, 'extensions');
}

async function saveSettings(dataFolder: string, settings: Record<string, unknown>): Promise<void> {
  const text = JSON.stringify(settings, undefined, 2);
  // Each is watched by itself: what only the second has, colours, tells that both are known.
  for (const scope of ['Machine', 'User'] as const) {
    const file = settingsFile(dataFolder, scope);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

function settingsFile(dataFolder: string, scope: 'User' | 'Machine'): string {
  return join(dataFolder, 'data', scope, 'settings.json');
}

function portOf(child: ChildProcess, output: string): number | undefined {
  const port = /listening on (\d+)/.exec(output)?.[1];
  if (port) return Number(port);
  if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
  return undefined;
}

function collectOutput(child: ChildProcess): () => string {
  const limit = 200_000;
  let text = '';
  const add = (chunk: string) => (text = (text + chunk).slice(-limit));
  child.stdout?.setEncoding('utf8').on('data', add);
  child.stderr?.setEncoding('utf8').on('data', add);
  child.once('error', (error) => add(String(error)));
  return () => text;
}

/** Writes the list VS Code itself keeps of installed extensions; other entries are dropped. */
async function installInPlace(extensions: string, folder: string): Promise<void> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { publisher, name, version } = JSON.parse(text) as Record<'publisher' | 'name' | 'version', string>;
  const location = { $mid: 1, scheme: 'file', path: folder };
  await mkdir(extensions, { recursive: true });
  await writeFile(join(extensions, 'extensions.json'), JSON.stringify([{ identifier: { id: `${publisher}.${name}` }, version, location }]));
}

async function installExtensions(command: string, args: readonly string[], vsix: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  for (const file of vsix) await installExtension(command, [...args, '--install-extension', file, '--force'], env);
}

async function installExtension(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collectOutput(child);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 || !output().includes('successfully installed')) throw new Error(`Installing the extension failed:\n${output()}`);
}

/** VS Code's own variables, present when a test is started from a terminal inside VS Code, would change the server. */
function definedOnly(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const foreign = /^(VSCODE_|ELECTRON_|CODE_SERVER_)/;
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== undefined && !foreign.test(name)));
}
