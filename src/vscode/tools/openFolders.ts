import { Uri, workspace } from 'vscode';
import { distinctNames, placeName, type Place, type WorkspaceFolder } from '../../core/tools/guard/workspacePath';

/** The folders of the window by the names that paths begin with. */
export function openFolders(): readonly WorkspaceFolder[] {
  return distinctNames(
    (workspace.workspaceFolders ?? []).map(({ name, uri }) =>
      uri.scheme === 'file' ? { name, root: uri.fsPath.replaceAll('\\', '/') } : { name, root: uri.path, isOffDisk: true },
    ),
  );
}

/** Where something lies in the workspace; undefined for what lies outside of it. */
export function placeOf(uri: Uri): Place | undefined {
  const root = workspace.getWorkspaceFolder(uri);
  return root && { folder: root.index, path: uri.path.slice(root.uri.path.length).replace(/^\//, '') };
}

/**
 * The path of what lies in the workspace, null for what does not. With several folders it begins with the name of one, by which tools
 * and records know it: VS Code's own `asRelativePath` gives files of two folders of the same name the same path.
 */
export function workspacePath(uri: Uri, folders: readonly WorkspaceFolder[] = openFolders()): string | null {
  const place = placeOf(uri);
  if (!place) return null;
  return folders.length > 1 ? placeName(place, folders) : workspace.asRelativePath(uri);
}

/** What such a path means; undefined where no folder is open. A path that begins with the name of none is in the first folder. */
export function uriOf(path: string): Uri | undefined {
  const roots = workspace.workspaceFolders ?? [];
  const [head = '', ...rest] = path.split('/');
  const named = roots.length > 1 ? roots[openFolders().findIndex(({ name }) => name === head)] : undefined;
  if (named) return Uri.joinPath(named.uri, ...rest);
  return roots[0] && Uri.joinPath(roots[0].uri, path);
}
