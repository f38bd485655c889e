import { workspace, type ExtensionContext } from 'vscode';
import { isLikely, type RelinkCandidate } from '../../node/workspaces/predecessor';
import { normalizeUris, type KnownWorkspace } from '../../node/workspaces/workspaceEntry';
import {
  findRelinkCandidates,
  listKnownWorkspaces,
  noteSessionCount,
  relinkWorkspace,
  resolveStoreFolder,
  type ResolvedFolder,
  type ResolveOptions,
} from '../../node/workspaces/workspaceRegistry';
import { gitRemote } from './gitRemote';
import { otherWorkspace } from './knownPlaces';
import type { OtherWorkspace } from '../sessions/tree/otherWorkspace';

/** Where the history of the open workspace is kept: workspace storage, the first folder of it that was ever used. */
export class StoreLocation {
  private readonly globalDir: string;
  private readonly candidateDir: string | undefined;
  private resolved: string | undefined;

  constructor(context: Pick<ExtensionContext, 'globalStorageUri' | 'storageUri'>) {
    this.globalDir = context.globalStorageUri.fsPath;
    this.candidateDir = context.storageUri?.fsPath;
  }

  async resolve(): Promise<ResolvedFolder> {
    const found = await resolveStoreFolder(await this.options());
    this.resolved = found.folder;
    return found;
  }

  /** Without opening the store. */
  async mayHaveSessions(): Promise<boolean> {
    return (await this.entries()).some(({ sessionCount }) => (sessionCount ?? 0) > 0);
  }

  /** The folder that this workspace uses, without making one; null: none yet. */
  async known(): Promise<string | null> {
    return (await this.entries())[0]?.folder ?? null;
  }

  private async entries(): Promise<KnownWorkspace[]> {
    const key = workspaceKey(this.workspaceUris());
    return (await listKnownWorkspaces(this.globalDir)).filter((entry) => workspaceKey(entry.workspaceUris) === key);
  }

  async noteSessions(count: number): Promise<void> {
    await noteSessionCount(this.globalDir, this.workspaceUris(), count);
  }

  /** Workspaces with a store of their own, the one used last first. */
  async others(): Promise<OtherWorkspace[]> {
    const withSessions = (await this.candidates()).filter(({ entry }) => entry.sessionCount !== 0);
    return withSessions.map(otherWorkspace).sort((a, b) => b.lastUsed - a.lastUsed);
  }

  /** Lists the workspaces whose history this one could take as its own, best first. */
  async candidates(): Promise<RelinkCandidate[]> {
    return (await findRelinkCandidates(await this.options())).filter(({ entry }) => entry.folder !== this.resolved);
  }

  /** The best one, if it is worth being offered without having been asked for. */
  async likely(): Promise<RelinkCandidate | undefined> {
    const [best] = await this.candidates();
    return best && isLikely(best) ? best : undefined;
  }

  /** From the next start on. */
  async relink(candidate: RelinkCandidate): Promise<void> {
    await relinkWorkspace(await this.options(), candidate);
  }

  private async options(): Promise<ResolveOptions> {
    const folder = workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file');
    return {
      globalDir: this.globalDir,
      candidateDir: this.candidateDir,
      workspaceUris: this.workspaceUris(),
      remote: folder ? await gitRemote(folder.uri.fsPath) : undefined,
    };
  }

  private workspaceUris(): string[] {
    return (workspace.workspaceFolders ?? []).map(({ uri }) => uri.toString());
  }
}

function workspaceKey(uris: readonly string[]): string {
  return normalizeUris(uris).join('\n');
}
