import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SessionStore } from '../../src/core/ports';
import { resolveStoreFolder } from '../../src/node/store/workspaceRegistry';
import { extensionId } from '../../src/vscode/contributions';
import { openTestStore } from './storeTemp';

/**
 * Gives a folder that no window has opened yet a history, where a VS Code server with this data folder will look for it.
 * Resolves with the folder of the store, which is closed again.
 */
export async function writeHistory(dataFolder: string, folder: string, write: (store: SessionStore) => Promise<void>): Promise<string> {
  const globalDir = join(dataFolder, 'data', 'User', 'globalStorage', extensionId);
  const { folder: storeFolder } = await resolveStoreFolder({ globalDir, candidateDir: undefined, workspaceUris: [pathToFileURL(folder).href] });
  const store = await openTestStore(storeFolder);
  try {
    await write(store);
  } finally {
    await store.close();
  }
  return storeFolder;
}
