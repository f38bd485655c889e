import { statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../core/errors';
import type { SessionStore } from '../../core/ports';
import { openStore } from '../store/client/openStore';
import type { FlagSpec } from './flags';
import { stderrWarnings } from './terminal';
import type { Session, SessionQuery } from '../../core/session/session';

export const storeFlag: FlagSpec = { name: 'store', value: 'DIR', required: true, help: 'folder of the history' };

/** The history as it is, whoever has it open: a copy is read. */
export async function withReader<T>(folder: string, label: string, work: (store: SessionStore) => Promise<T>): Promise<T> {
  requireFolder(folder);
  return using(
    await openStore({
      folder,
      workerFile: join(__dirname, 'storeWorker.js'),
      label: `threadkeeper ${label}`,
      readonly: true,
      logger: stderrWarnings(),
    }),
    work,
  );
}

/** The history, to be written; where another program has it open, that one writes. Rejects with `readonly` when nobody can. */
export async function withWriter<T>(folder: string, label: string, work: (store: SessionStore) => Promise<T>): Promise<T> {
  requireFolder(folder);
  return using(
    await openStore({ folder, workerFile: join(__dirname, 'storeWorker.js'), label: `threadkeeper ${label}`, logger: stderrWarnings() }),
    async (store) => {
      if (store.status.access === 'readonly')
        throw new StoreError('readonly', `${folder} can only be read. ${store.status.note?.detail ?? ''}`);
      return work(store);
    },
  );
}

/** A path that is not there is no fault: the store says what that means. */
function requireFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    throw new Error(`--store is the folder of a history; ${path} is a file.`);
}

async function using<T>(store: SessionStore, work: (store: SessionStore) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A session by its id (`YYYYMMDD_NNN`, also another device's), its uuid or key, those in the trash included. Rejects with `StoreError`. */
export async function sessionNamed(store: SessionStore, name: string): Promise<Session> {
  const session =
    (await store.session(name)) ??
    (await listed(store, { key: name }))[0] ??
    (await listed(store, { text: name })).find((one) => one.id === name) ??
    (await listed(store, { alias: name }))[0];
  if (!session) throw new StoreError('invalid', `There is no session "${name}" in this store.`);
  return session;
}

async function listed(store: SessionStore, query: SessionQuery): Promise<Session[]> {
  return [...(await store.listSessions(query)), ...(await store.listSessions({ ...query, trashed: true }))];
}
