import { join } from 'node:path';
import type { ExtensionContext } from 'vscode';
import type { DisposableStore } from '../core/base/disposable';
import type { ApiKeys } from '../vscode/models/apiKeys';
import type { WindowState } from '../vscode/chat/windowState';
import type { Configuration } from '../vscode/configuration';
import type { ContextKeys } from '../vscode/context/contextKeys';
import { endpointOf, type Endpoint } from '../vscode/models/endpoint';
import type { LazyTree } from '../vscode/lazyContributions';
import type { Log } from '../vscode/log';
import type { ServerOffer } from '../vscode/mcp/serverOffer';
import type { SessionNode } from '../vscode/sessions/tree/sessionNodes';
import type { Walkthrough } from '../vscode/context/walkthrough';
import type { StatusBar } from '../vscode/context/statusBar';
import type { StoreLocation } from '../vscode/history/storeLocation';
import type { CommandRunner } from '../node/tools/commandRunner';
import type { TerminalRunner } from '../vscode/tools/terminalRunner';

/** What `activate` has made before anything of a conversation was needed. */
export interface StartedParts {
  readonly context: ExtensionContext;
  readonly log: Log;
  readonly memory: WindowState;
  readonly keys: ApiKeys;
  readonly contextKeys: ContextKeys;
  readonly walkthrough: Walkthrough;
  readonly statusBar: StatusBar;
  readonly servers: ServerOffer;
  readonly sessionsView: LazyTree<SessionNode>;
}

/** Every part is built on this. */
export interface Base extends StartedParts {
  /** They are disposed of with the composition. */
  readonly owned: DisposableStore;
  readonly configuration: Configuration;
  readonly commands: CommandRunner;
  readonly terminals: TerminalRunner;
  readonly location: StoreLocation;
}

export function endpointIn(configuration: Configuration): (provider?: Endpoint['provider']) => Endpoint {
  return (provider = 'anthropic') => {
    const { baseUrl, openaiUrl } = configuration.current;
    return endpointOf(provider === 'anthropic' ? baseUrl : openaiUrl, provider);
  };
}

/** Folder of the notes that hold in every workspace. */
export function userNotes(context: ExtensionContext): string {
  return join(context.globalStorageUri.fsPath, 'notes');
}
