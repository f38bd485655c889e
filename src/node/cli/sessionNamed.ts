import { StoreError } from '../../core/errors';
import type { SessionStore } from '../../core/ports';
import type { Session } from '../../core/session/session';

/** A session by its id (`YYYYMMDD_NNN`) or uuid, those in the trash included. Rejects with `StoreError`. */
export async function sessionNamed(store: SessionStore, id: string): Promise<Session> {
  const session = (await store.session(id)) ?? [...(await store.listSessions()), ...(await store.listSessions({ trashed: true }))].find((one) => one.id === id);
  if (!session) throw new StoreError('invalid', `There is no session "${id}" in this store.`);
  return session;
}
