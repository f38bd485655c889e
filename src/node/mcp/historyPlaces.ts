import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { listKnownWorkspaces } from '../workspaces/workspaceRegistry';
import type { HistoryPlace } from './sharedHistories';

/** Editors in whose user folder the registry of workspaces may be. */
const editors = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf', 'Kiro', 'Antigravity'];
const inStorage = join('User', 'globalStorage', 'threadkeeper.threadkeeper');

/** Global storage of the extension in every editor that a person may have; most of them do not exist. */
export function registryFolders(home: string, platform: NodeJS.Platform, env: NodeJS.ProcessEnv): string[] {
  const data =
    platform === 'win32'
      ? (env['APPDATA'] ?? join(home, 'AppData', 'Roaming'))
      : platform === 'darwin'
        ? join(home, 'Library', 'Application Support')
        : (env['XDG_CONFIG_HOME'] ?? join(home, '.config'));
  const servers = ['.vscode-server', '.vscode-server-insiders', '.cursor-server'].map((server) => join(home, server, 'data'));
  return [...editors.map((editor) => join(data, editor, inStorage)), ...servers.map((server) => join(server, inStorage))];
}

export function onePlace(folder: string, name: string | undefined): () => Promise<readonly HistoryPlace[]> {
  const place = { folder: resolve(folder), name: name ?? basename(resolve(folder)) };
  return async () => [place];
}

/** Every history that a workspace has ever used, under the name of its folder; looked up anew each time. */
export function everyPlace(registry: string | undefined): () => Promise<readonly HistoryPlace[]> {
  const folders = registry === undefined ? registryFolders(homedir(), process.platform, process.env) : [resolve(registry)];
  return async () => {
    const known = (await Promise.all(folders.map((folder) => listKnownWorkspaces(folder))))
      .flat()
      .sort((a, b) => a.firstUsed - b.firstUsed);
    const places = new Map<string, HistoryPlace>();
    const taken = new Set<string>();
    for (const { folder, workspaceUris } of known) {
      if (places.has(folder)) continue;
      const first = decoded(workspaceUris[0] ?? 'no folder');
      let name = first;
      for (let n = 2; taken.has(name); n++) name = `${first}-${n}`;
      taken.add(name);
      places.set(folder, { folder, name });
    }
    return [...places.values()];
  };
}

function decoded(uri: string): string {
  const name = basename(uri);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
