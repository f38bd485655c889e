import { constants } from 'node:fs';
import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { ServerCommand } from '../../node/mcp/connect/agentPrograms';

export interface LauncherPlace {
  /** Where the extension is installed: another folder with every version. */
  readonly extensionPath: string;
  /** Its global storage, which stays. */
  readonly globalDir: string;
}

/** Runs this VS Code's own Node; nothing else has to be installed. */
const asNode = { ELECTRON_RUN_AS_NODE: '1' } as const;

function launcherFile(globalDir: string): string {
  return join(globalDir, 'agents', 'threadkeeper.cjs');
}

/**
 * What other programs are told to start: a file of ours that stays where it is when the extension is updated, and leads to the version that
 * is installed. `onServer`: VS Code's own Node is another file there with every version, so one on the path is taken where there is one.
 */
export async function serverCommand(place: LauncherPlace, linkScheme: string, onServer: boolean): Promise<ServerCommand> {
  await writeLauncher(place);
  const command = (onServer ? await nodeOnPath() : null) ?? process.execPath;
  const args = [launcherFile(place.globalDir), 'mcp', '--all', '--registry', place.globalDir, '--link-scheme', linkScheme];
  return { command, args, env: asNode };
}

/** Leads an existing launcher to this version. Rejects with the file system's error. */
export async function keepLauncher(place: LauncherPlace): Promise<void> {
  const known = await readFile(launcherFile(place.globalDir), 'utf8').catch(() => null);
  if (known !== null && known !== launcherText(place)) await writeLauncher(place);
}

async function writeLauncher(place: LauncherPlace): Promise<void> {
  await mkdir(join(place.globalDir, 'agents'), { recursive: true, mode: 0o700 });
  await writeFile(launcherFile(place.globalDir), launcherText(place), { mode: 0o600 });
}

function launcherText({ extensionPath }: LauncherPlace): string {
  return `// Written by Threadkeeper: starts its command line for agents that are connected.\nrequire(${JSON.stringify(join(extensionPath, 'dist', 'cli.js'))});\n`;
}

async function nodeOnPath(): Promise<string | null> {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const file = join(folder, name);
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    // One that is relative leads elsewhere in every folder that an agent is started in.
    if (isAbsolute(folder) && isThere) return file;
  }
  return null;
}
