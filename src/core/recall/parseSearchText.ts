import { metadataScalar } from '../session/session';
import type { SearchQuery, SearchRole, SearchResult } from '../session/searchQuery';
import type { SessionStore } from '../ports';

export interface TypedSearch {
  /** What is left to search for. */
  readonly text: string;
  readonly filters: Pick<SearchQuery, 'tag' | 'role' | 'model' | 'from' | 'to' | 'metadata'>;
  /** `YYYYMMDD_NNN`; null: none is named. */
  readonly sessionId: string | null;
}

type Draft = { -readonly [K in keyof TypedSearch['filters']]: TypedSearch['filters'][K] } & { sessionId?: string };

/** Where a word begins; what follows the colon may stand in quotes. */
const filter = /(?<=^|\s)([a-z]+):(?:"([^"]+)"|([^\s"]+))(?=\s|$)/gi;
const roles: readonly string[] = ['user', 'assistant', 'tool'] satisfies SearchRole[];

/**
 * Takes `tag:x role:user model:m after:2026-11-01 before:2026-11-20 session:20261122_001 meta:key=value` out of what the user
 * typed. `after` begins with its day and `before` ends where its day begins, both in local time. Said twice, the last holds. Whatever
 * is no filter (`https://…`, `role:me`) stays text.
 */
export function parseSearchText(typed: string): TypedSearch {
  const filters: Draft = {};
  const text = typed.replace(filter, (whole, name: string, quoted: string | undefined, plain: string | undefined) => {
    const found = read(name.toLowerCase(), quoted ?? plain ?? '', filters.metadata);
    if (!found) return whole;
    Object.assign(filters, found);
    return ' ';
  });
  const { sessionId = null, ...rest } = filters;
  return { text: text.replace(/\s+/g, ' ').trim(), filters: rest, sessionId };
}

/** Milliseconds at which a local day (`2026-11-01`) begins; null for what is no day. */
export function dayStart(value: string): number | null {
  const [, year, month, day] = (/^(\d{4})-(\d{2})-(\d{2})$/.exec(value) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return null;
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : null;
}

function read(name: string, value: string, metadata: Draft['metadata']): Draft | null {
  switch (name) {
    case 'tag':
      return { tag: value };
    case 'model':
      return { model: value };
    case 'role':
      return roles.includes(value.toLowerCase()) ? { role: value.toLowerCase() as SearchRole } : null;
    case 'session':
      return /^\d{8}_\d{3,}$/.test(value) ? { sessionId: value } : null;
    case 'after':
    case 'before': {
      const at = dayStart(value);
      if (at === null) return null;
      return name === 'after' ? { from: at } : { to: at - 1 };
    }
    case 'meta': {
      const [, key, text] = /^([^=]+)=(.+)$/.exec(value) ?? [];
      return key === undefined || text === undefined ? null : { metadata: { ...metadata, [key]: metadataScalar(text) } };
    }
    default:
      return null;
  }
}

const foundPassages = 50;

/** Searches for what the user typed, filters included. Nothing is found in a session that is not there. Rejects with `StoreError`. */
export async function searchTyped(store: Pick<SessionStore, 'search' | 'listSessions'>, typed: string): Promise<SearchResult> {
  const { text, filters, sessionId } = parseSearchText(typed);
  if (sessionId === null) return store.search({ text, ...filters, limit: foundPassages, byMeaning: true });
  // What matches only by an id of another device has another id here.
  const named = [...(await store.listSessions({ text: sessionId })), ...(await store.listSessions({ text: sessionId, trashed: true }))];
  const session =
    named.find(({ id }) => id === sessionId) ??
    (await store.listSessions({ alias: sessionId }))[0] ??
    (await store.listSessions({ alias: sessionId, trashed: true }))[0];
  if (!session) return { hits: [], terms: [], statistics: { count: 0, length: 0, documentFrequency: [], named: [] }, complete: true };
  return store.search({ text, ...filters, session: session.uuid, limit: foundPassages, byMeaning: true });
}
