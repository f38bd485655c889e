import type { SessionStore } from '../ports';
import { isUserMessage } from '../session/entry';

/** A tool loop and notices may stand between the question and the leaf. */
const maxSteps = 100;

/** UUID of the newest message of the user on the branch of the session: what is being answered. Null when there is none nearby. */
export async function newestQuestion(store: Pick<SessionStore, 'session' | 'entries'>, session: string): Promise<string | null> {
  let at = (await store.session(session))?.leaf ?? null;
  for (let i = 0; i < maxSteps && at !== null; i++) {
    const [entry] = await store.entries([at]);
    if (entry && isUserMessage(entry)) return entry.uuid;
    at = entry?.parent ?? null;
  }
  return null;
}
