import { workspace, type Disposable } from 'vscode';

/** Whether the user trusts the open workspace: if not, its files are not searched. */
export function isTrusted(): boolean {
  return workspace.isTrusted;
}

export function onDidGrantTrust(listener: () => void): Disposable {
  return workspace.onDidGrantWorkspaceTrust(listener);
}
