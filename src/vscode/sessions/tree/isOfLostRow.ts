import type { CommandName } from '../../manifest';

/** Commands of the menus of rows that mean the session in the chat where they are called from elsewhere. */
const ofRows: ReadonlySet<CommandName> = new Set([
  'archiveSession',
  'deleteSession',
  'editSessionDetails',
  'editTags',
  'exportSession',
  'forkSession',
  'handOver',
  'openInEditor',
  'openSession',
  'pinSession',
  'renameSession',
  'restoreSession',
  'trashSession',
  'unarchiveSession',
  'unpinSession',
] as const);

/**
 * Whether a command was chosen for a row that VS Code could not name, because the list was being read anew (microsoft/vscode#144250). For
 * a row it passes that one and all that are selected; from elsewhere these commands have one argument at most.
 */
export function isOfLostRow(name: CommandName, args: readonly unknown[]): boolean {
  return ofRows.has(name) && args.length > 1 && (args[0] === undefined || args[0] === null);
}
