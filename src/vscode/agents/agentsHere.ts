import { join } from 'node:path';
import { workspace } from 'vscode';
import type { Logger, SessionStore } from '../../core/ports';
import type { Configuration } from '../configuration';
import { Agents } from './agents';

interface AgentsHere {
  readonly configuration: Pick<Configuration, 'current' | 'onDidChange'>;
  /** Where this workspace keeps its sessions. */
  readonly location: { resolve(): Promise<{ readonly folder: string }> };
  readonly log: Logger;
}

/** Follows the other agents that the settings name, as they and the workspace change. What follows them is loaded when it is needed. */
export function agentsHere({ configuration, location, log }: AgentsHere, openStore: (folder: string) => Promise<SessionStore>): Agents {
  const folder = async () => (await location.resolve()).folder;
  const distDir = __dirname;
  const agents = new Agents({
    settings: () => configuration.current.agents,
    folders,
    find: async (open) => {
      const { thisMachine } = await import('../../node/transfer/watch/thisMachine');
      return (await import('../../node/transfer/watch/findPrograms')).findPrograms(thisMachine(open));
    },
    watch: async (store, request, options) => {
      const { watchInThread } = await import('../../node/transfer/watch/watchInThread');
      return watchInThread(store, request, { ...options, workerFile: join(distDir, 'storeTaskWorker.js') });
    },
    openStore: async () => openStore(await folder()),
    memoryFile: async () => (await import('../../node/store/database/storeFiles')).storeFiles(await folder()).watched,
    log,
  });
  const apply = () => void agents.apply();
  agents.owned.add(configuration.onDidChange(apply));
  agents.owned.add(workspace.onDidGrantWorkspaceTrust(apply));
  agents.owned.add(workspace.onDidChangeWorkspaceFolders(apply));
  apply();
  return agents;
}

/** Null: what this workspace is about is not on this disk, or not trusted. */
function folders(): readonly string[] | null {
  const open = workspace.workspaceFolders ?? [];
  const onDisk = open.filter(({ uri }) => uri.scheme === 'file').map(({ uri }) => uri.fsPath);
  return workspace.isTrusted && (open.length === 0 || onDisk.length > 0) ? onDisk : null;
}
