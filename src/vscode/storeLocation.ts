import { workspace, type ExtensionContext } from 'vscode';
import type { ResolvedFolder } from '../node/store/workspaceRegistry';
import { listKnownWorkspaces, noteSessionCount, resolveStoreFolder } from '../node/store/workspaceRegistry';
import { gitRemote } from './gitRemote';

/** Where the history of the open workspace is kept: workspace storage, the first folder of it that was ever used. */
export class StoreLocation {
  private readonly globalDir: string;
  private readonly candidateDir: string | undefined;

  constructor(context: Pick<ExtensionContext, 'globalStorageUri' | 'storageUri'>) {
    this.globalDir = context.globalStorageUri.fsPath;
    this.candidateDir = context.storageUri?.fsPath;
  }

  async resolve(): Promise<ResolvedFolder> {
    const folder = workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
    return resolveStoreFolder({
      globalDir: this.globalDir,
      candidateDir: this.candidateDir,
      workspaceUris: this.workspaceUris(),
      remote: folder ? await gitRemote(folder.uri.fsPath) : undefined,
    });
  }

  /** Without opening the store. */
  async mayHaveSessions(): Promise<boolean> {
    const key = workspaceKey(this.workspaceUris());
    const known = await listKnownWorkspaces(this.globalDir);
    return known.some((entry) => workspaceKey(entry.workspaceUris) === key && (entry.sessionCount ?? 0) > 0);
  }

  async noteSessions(count: number): Promise<void> {
    await noteSessionCount(this.globalDir, this.workspaceUris(), count);
  }

  private workspaceUris(): string[] {
    return (workspace.workspaceFolders ?? []).map(({ uri }) => uri.toString());
  }
}

function workspaceKey(uris: readonly string[]): string {
  return [...new Set(uris.map((uri) => uri.replace(/\/+$/, '')))].sort().join('\n');
}
