import type { SessionStore } from '../ports';
import type { Session } from '../session/session';

const day = 86_400_000;

/**
 * Sessions in which nothing has been said, and which nobody has opened, for more than so many days: those go to the trash when the user
 * cleans up. Never a pinned one, one of `open`, or one in which some window is working. The oldest first. Rejects with `StoreError`.
 */
export async function sessionsToCleanUp(
  store: Pick<SessionStore, 'listSessions' | 'activity'>,
  { days, now, open }: { readonly days: number; readonly now: number; readonly open: readonly string[] },
): Promise<Session[]> {
  const idle = (await store.listSessions({ pinned: false })).filter(
    (session) => lastUsed(session) < now - days * day && !open.includes(session.uuid),
  );
  const holders = await Promise.all(idle.map(async ({ uuid }) => (await store.activity(uuid)).holder));
  return idle.filter((_, i) => holders[i] === null).sort((a, b) => lastUsed(a) - lastUsed(b));
}

/** When something was last said in it, or when somebody last opened it. */
export function lastUsed({ updatedAt, lastOpenedAt }: Pick<Session, 'updatedAt' | 'lastOpenedAt'>): number {
  return Math.max(updatedAt, lastOpenedAt);
}
