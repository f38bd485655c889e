/** A conversation. Its entries live in the tree; this row says where the active leaf is and how it is set up. */
export interface Session {
  /** UUID v7, unique across stores. */
  readonly uuid: string;
  /** `YYYYMMDD_NNN`: the human id, unique per store. */
  readonly id: string;
  /** `channel:chatId`, for example `vscode:20261122_001` or `cli:20261122_001`. */
  readonly key: string;
  readonly title: string;
  readonly cwd: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastOpenedAt: number;
  readonly pinnedAt: number | null;
  readonly archivedAt: number | null;
  readonly deletedAt: number | null;
  readonly parentSession: string | null;
  readonly forkEntry: string | null;
  readonly leaf: string | null;
  /** `provider/model`; null = whatever the settings say. */
  readonly model: string | null;
  readonly thinkingLevel: string | null;
  readonly policy: unknown;
  /** Free, and queried with `json_extract`. `tags` is a list of strings. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The limit is in US dollars; null when there is none. */
  readonly costLimit: number | null;
  /** Both of its own entries, on every branch; those that a fork shares belong to the session it comes from. */
  readonly totalTokens: number;
  readonly messageCount: number;
}

export interface NewSession {
  readonly uuid: string;
  /** Omitted: `<channel>:<human id>`. Given and already present: that session is returned. */
  readonly key?: string;
  readonly channel: 'vscode' | 'cli' | 'openclaw' | 'import';
  readonly title?: string;
  readonly cwd?: string | null;
  readonly model?: string | null;
  readonly policy?: unknown;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
}

export type SessionPatch = Partial<
  Pick<
    Session,
    'key' | 'title' | 'model' | 'thinkingLevel' | 'policy' | 'costLimit' | 'lastOpenedAt' | 'pinnedAt' | 'archivedAt' | 'deletedAt'
  >
> & {
  /** The keys that it names; null removes one. The others stay as they are: somebody else may be changing them. */
  readonly metadata?: Readonly<Record<string, unknown>>;
};

/** What people and scripts may say of a session, whatever is said in it. */
export type SessionDetails = Pick<SessionPatch, 'title' | 'key' | 'costLimit' | 'metadata'>;

/** `channel:chatId`. */
export function isSessionKey(text: string): boolean {
  return /^[^\s:]+:\S(?:.*\S)?$/u.test(text);
}

/** By its key an import and a watcher find the session that they have made: such a key stays as it is. */
export function hasFixedKey({ key }: Pick<Session, 'key'>): boolean {
  return /^(?:import|openclaw):/.test(key);
}

/** Last used first, newest first, by title, or those with the most tokens said, or the highest cost, first. */
export const sessionSorts = ['updated', 'created', 'title', 'tokens', 'cost'] as const;
export type SessionSort = (typeof sessionSorts)[number];

/** It says which sessions to list; every condition that is given must hold. */
export interface SessionQuery {
  /** True lists sessions that are archived, false those that are not. */
  readonly archived?: boolean;
  /** True lists sessions that are pinned, false those that are not. */
  readonly pinned?: boolean;
  /** Trashed sessions are listed only when asked for, and then alone. */
  readonly trashed?: boolean;
  readonly limit?: number;
  /** One of `metadata.tags`. */
  readonly tag?: string;
  /** Part of the title or of the human id, also of one that it has on another device; upper and lower case alike. */
  readonly text?: string;
  /** Top-level values of the metadata. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
  /** Only sessions that were imported from this program, by the name of its format. */
  readonly program?: string;
  /** The one with exactly this key. */
  readonly key?: string;
  /** Another device knows it by exactly this id, which another session has here. */
  readonly alias?: string;
  /** `updated` by default. */
  readonly sort?: SessionSort;
  /** UUID of the session they were forked from. */
  readonly parent?: string;
}

/** The year 2100. A `Date` reaches to the year 275760, of which the id of a session has no room. */
const latest = Date.UTC(2100, 0);

/** Whether something can have happened then, in milliseconds since the epoch. Earlier ones come from clocks that were never set. */
export function isSaneTime(at: number): boolean {
  return at < latest && at > -latest;
}

/** A value as somebody types it: `7` is a number, `true` a boolean, everything else text. */
export function metadataScalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Reads as `metadataScalar` does, but takes lists, objects and text in quotes as JSON: `"7"` is text. */
export function metadataValue(text: string): unknown {
  if (!/^[[{"]/.test(text)) return metadataScalar(text);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** First line of the first message, at most 60 characters, cut at a word. */
export function titleFrom(text: string): string {
  const line = text.trim().split('\n', 1)[0]!.replace(/\s+/g, ' ').trim();
  if (line.length <= 60) return line;
  const cut = line.slice(0, 60);
  const space = cut.lastIndexOf(' ');
  return `${(space > 30 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
