import type { SearchResult } from '../session/searchQuery';
import type { SessionStore } from '../ports';
import { parseSearchText } from './parseSearchText';

const foundPassages = 50;

/** Searches for what the user typed, filters included. Nothing is found in a session that is not there. Rejects with `StoreError`. */
export async function searchTyped(store: Pick<SessionStore, 'search' | 'listSessions'>, typed: string): Promise<SearchResult> {
  const { text, filters, sessionId } = parseSearchText(typed);
  if (sessionId === null) return store.search({ text, ...filters, limit: foundPassages });
  const named = [...(await store.listSessions({ text: sessionId })), ...(await store.listSessions({ text: sessionId, trashed: true }))];
  const session = named.find(({ id }) => id === sessionId);
  if (!session) return { hits: [], terms: [], statistics: { count: 0, documentFrequency: [] }, complete: true };
  return store.search({ text, ...filters, session: session.uuid, limit: foundPassages });
}
