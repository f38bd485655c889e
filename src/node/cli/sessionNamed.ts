import { StoreError } from '../../core/errors';
import type { SessionStore } from '../../core/ports';
import type { Session } from '../../core/session/session';

/** A session by its id (`YYYYMMDD_NNN`), its uuid or its key, those in the trash included. Rejects with `StoreError`. */
export async function sessionNamed(store: SessionStore, name: string): Promise<Session> {
  const session =
    (await store.session(name)) ??
    (await listed(store, { key: name }))[0] ??
    (await listed(store, { text: name })).find((one) => one.id === name);
  if (!session) throw new StoreError('invalid', `There is no session "${name}" in this store.`);
  return session;
}

async function listed(store: SessionStore, query: { readonly key: string } | { readonly text: string }): Promise<Session[]> {
  return [...(await store.listSessions(query)), ...(await store.listSessions({ ...query, trashed: true }))];
}
