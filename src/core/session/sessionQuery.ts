/** Last used first, newest first, by title, or those with the most tokens said, or the highest cost, first. */
export const sessionSorts = ['updated', 'created', 'title', 'tokens', 'cost'] as const;
export type SessionSort = (typeof sessionSorts)[number];

/** Which sessions to list; every condition that is given must hold. */
export interface SessionQuery {
  /** Those that are archived, or those that are not. */
  readonly archived?: boolean;
  /** Those that are pinned, or those that are not. */
  readonly pinned?: boolean;
  /** Trashed sessions are listed only when asked for, and then alone. */
  readonly trashed?: boolean;
  readonly limit?: number;
  /** One of `metadata.tags`. */
  readonly tag?: string;
  /** Part of the title or of the human id, upper and lower case alike. */
  readonly text?: string;
  /** Top-level values of the metadata. */
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
  /** The one with exactly this key. */
  readonly key?: string;
  /** `updated` by default. */
  readonly sort?: SessionSort;
  /** UUID of the session they were forked from. */
  readonly parent?: string;
}
