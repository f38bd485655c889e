import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SessionStore } from '../../../src/core/ports';
import { storeFiles } from '../../../src/node/store/database/storeFiles';
import { resolveStoreFolder } from '../../../src/node/workspaces/workspaceRegistry';
import { extensionId } from '../../../src/vscode/manifest';
import { temporaryWorkspace } from '../pictures/sampleWorkspace';
import { openTestStore, testUuid, userMessage } from './storeTemp';

/**
 * Gives a folder that no window has opened yet a history, where a VS Code server with this data folder will look for it.
 * Resolves with the main file of the store, which is closed again.
 */
export async function writeHistory(dataFolder: string, folder: string, write: (store: SessionStore) => Promise<void>): Promise<string> {
  const globalDir = join(dataFolder, 'data', 'User', 'globalStorage', extensionId);
  const { folder: storeFolder } = await resolveStoreFolder({
    globalDir,
    candidateDir: undefined,
    workspaceUris: [pathToFileURL(folder).href],
  });
  const store = await openTestStore(storeFolder);
  try {
    await write(store);
  } finally {
    await store.close();
  }
  return storeFiles(storeFolder).main;
}

/** What a server and its first window are opened with to find a history that is there already. */
export interface PreparedHistory {
  readonly options: { readonly dataFolder: string; readonly folder: string };
  readonly storeFile: string;
  remove(): Promise<void>;
}

/** The sample workspace with a history. */
export async function prepareHistory(write: (store: SessionStore) => Promise<void>): Promise<PreparedHistory> {
  const { folder, remove } = await temporaryWorkspace();
  const dataFolder = await mkdtemp(join(tmpdir(), 'threadkeeper-history-'));
  const removeAll = async () => {
    await remove();
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { options: { dataFolder, folder }, storeFile: await writeHistory(dataFolder, folder, write), remove: removeAll };
}

/** A session with a question and what was answered, piece by piece. */
export async function writeAnswered(store: SessionStore, question: string, ...answers: readonly string[]): Promise<void> {
  const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: Date.now() });
  const entries = [userMessage(uuid, null, question)];
  for (const text of answers)
    entries.push(userMessage(uuid, entries.at(-1)!.uuid, '', { content: { type: 'message', role: 'assistant', text } }));
  await store.append(uuid, { entries });
}

/** Writes the first place where a text stands in capitals: SQLite sees nothing wrong with that. */
export async function damageText(storeFile: string, text: string): Promise<void> {
  const content = await readFile(storeFile);
  const at = content.indexOf(text);
  if (at < 0) throw new Error(`"${text}" does not stand in ${storeFile}`);
  content.write(text.toUpperCase(), at);
  await writeFile(storeFile, content);
}
