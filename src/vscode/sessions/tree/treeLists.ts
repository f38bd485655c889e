import type { SessionStore } from '../../../core/ports';
import type { Session, SessionQuery, SessionSort } from '../../../core/session/session';
import { parseSearchText } from '../../../core/recall/parseSearchText';

export interface SessionList {
  /** In the order that was chosen. */
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
  sort: SessionSort = 'updated';

  /**
   * Part of a title or id; `#work` is a tag, `meta:user_id=7` a value of the metadata, `agent:codex` the program that it comes from. Empty:
   * everything.
   */
  get filter(): string {
    return this.words;
  }

  set filter(text: string) {
    this.words = text.trim();
    for (const name of Object.keys(this.limits) as ListName[]) this.limits[name] = listStep;
  }

  /** The words and the order, for any of the lists. */
  get query(): SessionQuery {
    return { ...filterQuery(this.words), sort: this.sort };
  }

  showMore(name: ListName): void {
    this.limits[name] += listStep;
  }

  /** Rejects with `StoreError`. */
  async load(store: Pick<SessionStore, 'listSessions'>): Promise<LoadedLists> {
    const [pinned, active, archived, trashed] = await Promise.all([
      store.listSessions({ ...queries.pinned, ...this.query }),
      this.read(store, 'active'),
      this.read(store, 'archived'),
      this.read(store, 'trashed'),
    ]);
    return { active: { ...active, sessions: [...pinned, ...active.sessions] }, archived, trashed };
  }

  private async read(store: Pick<SessionStore, 'listSessions'>, name: ListName): Promise<SessionList> {
    const limit = this.limits[name];
    const found = await store.listSessions({ ...queries[name], ...this.query, limit: limit + 1 });
    return { sessions: found.slice(0, limit), hasMore: found.length > limit };
  }
}

/**
 * The same words as in a search: `tag:`, `session:` and `meta:` are taken out of it; whatever says something of messages is part of a
 * title.
 */
function filterQuery(words: string): SessionQuery {
  if (words === '') return {};
  const program = /(?:^|\s)agent:([\w-]+)/.exec(words);
  if (program) return { ...filterQuery(words.replace(program[0], ' ').trim()), program: program[1]!.toLowerCase() };
  if (words.startsWith('#') && words.length > 1 && !words.includes(' meta:')) return { tag: words.slice(1) };
  const { text: rest, filters, sessionId } = parseSearchText(words.replace(/(?<=^|\s)#(\S+)/g, 'tag:$1'));
  const { tag, metadata, ...ofMessages } = filters;
  if (Object.keys(ofMessages).length > 0) return { text: words };
  const text = [sessionId ?? '', rest].filter((part) => part !== '').join(' ');
  return { ...(tag === undefined ? {} : { tag }), ...(metadata === undefined ? {} : { metadata }), ...(text === '' ? {} : { text }) };
}
