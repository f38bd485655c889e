import type { Session, SessionSort } from '../../../core/session/session';

/** Another workspace of this machine, as the registry knows it. */
export interface OtherWorkspace {
  /** The folder of its store. */
  readonly folder: string;
  readonly name: string;
  /** Where the workspace is, in words. */
  readonly place: string;
  readonly sessionCount: number | null;
  readonly lastUsed: number;
  /** What VS Code opens for it; null where that is not one folder. */
  readonly uri: string | null;
  /** Whether its own folder is no longer there. */
  readonly gone: boolean;
}

/** What another workspace has for the list of all. */
export interface ListedElsewhere {
  readonly workspace: OtherWorkspace;
  /** `left_out`: there are too many workspaces. */
  readonly state: 'read' | 'unread' | 'left_out';
  readonly sessions: readonly Session[];
  /** It has older ones. */
  readonly hasMore: boolean;
}

/** Sessions of several histories in one order. What they cost is known to each history alone: there one comes after the other. */
export function inOrder(sessions: readonly Session[], sort: SessionSort): readonly Session[] {
  const compare: Readonly<Record<SessionSort, (a: Session, b: Session) => number>> = {
    updated: (a, b) => b.updatedAt - a.updatedAt,
    created: (a, b) => b.createdAt - a.createdAt,
    title: (a, b) => a.title.localeCompare(b.title),
    tokens: (a, b) => b.totalTokens - a.totalTokens,
    cost: () => 0,
  };
  return [...sessions].sort(compare[sort]);
}
