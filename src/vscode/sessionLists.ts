import type { SessionStore } from '../core/ports';
import type { Session } from '../core/session/session';
import type { SessionQuery } from '../core/session/sessionQuery';

export interface SessionList {
  /** Newest first. */
  readonly sessions: readonly Session[];
  readonly hasMore: boolean;
}

export type ListName = 'active' | 'archived' | 'trashed';
export type LoadedLists = Readonly<Record<ListName, SessionList>>;

/** Sessions read at first and with each *Show more…*: 2,000 at once would cost a refresh a megabyte of copying. */
export const listStep = 200;

const queries = {
  // All pinned ones stand above, whatever their age.
  pinned: { archived: false, pinned: true },
  active: { archived: false, pinned: false },
  archived: { archived: true },
  trashed: { trashed: true },
} as const;

/** Which sessions of a store are listed, and how many of them. */
export class SessionLists {
  private readonly limits: Record<ListName, number> = { active: listStep, archived: listStep, trashed: listStep };
  private words = '';

  /** Part of a title, id or tag; `#work` is one tag. Empty: everything. */
  get filter(): string {
    return this.words;
  }

  set filter(text: string) {
    this.words = text.trim();
    for (const name of Object.keys(this.limits) as ListName[]) this.limits[name] = listStep;
  }

  showMore(name: ListName): void {
    this.limits[name] += listStep;
  }

  /** Rejects with `StoreError`. */
  async load(store: Pick<SessionStore, 'listSessions'>): Promise<LoadedLists> {
    const [pinned, active, archived, trashed] = await Promise.all([
      store.listSessions({ ...queries.pinned, ...filterQuery(this.words) }),
      this.read(store, 'active'),
      this.read(store, 'archived'),
      this.read(store, 'trashed'),
    ]);
    return { active: { ...active, sessions: [...pinned, ...active.sessions] }, archived, trashed };
  }

  private async read(store: Pick<SessionStore, 'listSessions'>, name: ListName): Promise<SessionList> {
    const limit = this.limits[name];
    const found = await store.listSessions({ ...queries[name], ...filterQuery(this.words), limit: limit + 1 });
    return { sessions: found.slice(0, limit), hasMore: found.length > limit };
  }
}

function filterQuery(words: string): Pick<SessionQuery, 'tag' | 'text'> {
  if (words === '') return {};
  return words.startsWith('#') && words.length > 1 ? { tag: words.slice(1) } : { text: words };
}
