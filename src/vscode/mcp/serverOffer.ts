import * as vscode from 'vscode';
import { EventEmitter, env, workspace, type ExtensionContext } from 'vscode';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Disposable } from '../../core/base/disposable';
import { mcpProviderId } from '../manifest';

/** How VS Code (from 1.101 on) is told of servers: only what is used of it. */
interface McpApi {
  readonly lm: {
    registerMcpServerDefinitionProvider?(id: string, provider: { provideMcpServerDefinitions(): Promise<unknown[]> }): Disposable;
  };
  readonly McpStdioServerDefinition?: new (
    label: string,
    command: string,
    args: string[],
    env: Record<string, string>,
    version: string,
  ) => object;
}

/**
 * Registers the server for the history of this workspace with VS Code, so that every agent in it has it: where this VS Code can, and as
 * long as the user shares the history and trusts the workspace. Loads nothing before it is asked.
 */
export class ServerOffer implements Disposable {
  private readonly changes = new EventEmitter<void>();
  private readonly registration: Disposable | undefined;

  constructor(private readonly context: ExtensionContext) {
    void this.keepLauncher().catch(() => undefined);
    const api = vscode as unknown as McpApi;
    const Definition = api.McpStdioServerDefinition;
    if (!Definition) return;
    const provider = {
      onDidChangeMcpServerDefinitions: this.changes.event,
      provideMcpServerDefinitions: async () => {
        const folder = await this.sharedFolder();
        if (folder === null) return [];
        const name = workspace.name ?? 'history';
        const args = [
          join(context.extensionPath, 'dist', 'cli.js'),
          'mcp',
          '--store',
          folder,
          '--name',
          name,
          '--link-scheme',
          env.uriScheme,
        ];
        const { version } = context.extension.packageJSON as { version: string };
        return [new Definition('Threadkeeper', process.execPath, args, { ELECTRON_RUN_AS_NODE: '1' }, version)];
      },
    };
    try {
      this.registration = api.lm.registerMcpServerDefinitionProvider?.(mcpProviderId, provider);
    } catch {
      // VS Code 1.100 has it as a proposal, and refuses the call.
    }
  }

  /** The user shares the history now, or no longer. */
  changed(): void {
    this.changes.fire();
  }

  dispose(): void {
    this.registration?.dispose();
    this.changes.dispose();
  }

  /** Agents that are connected start the version that is installed now. */
  private async keepLauncher(): Promise<void> {
    const { extensionPath, globalStorageUri } = this.context;
    const globalDir = globalStorageUri.fsPath;
    if (existsSync(join(globalDir, 'agents'))) await (await import('./serverLauncher')).keepLauncher({ extensionPath, globalDir });
  }

  private async sharedFolder(): Promise<string | null> {
    if (!workspace.isTrusted) return null;
    const [{ StoreLocation }, { isShared }] = await Promise.all([
      import('../history/storeLocation'),
      import('../../node/mcp/agentSharing'),
    ]);
    const folder = await new StoreLocation(this.context).known();
    return folder !== null && (await isShared(folder)) ? folder : null;
  }
}
