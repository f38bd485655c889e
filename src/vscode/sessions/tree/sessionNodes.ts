import { listed, t, wholeNumber } from '../../../core/l10n';
import type { Session, SessionSort } from '../../../core/session/session';
import { inOrder, type ListedElsewhere, type OtherWorkspace } from './otherWorkspace';
import type { ListName, LoadedLists } from './treeLists';
import { isObject } from '../../../core/base/json';
import { programOf } from '../../../core/transfer/programs';
import { ago } from '../../../protocol/figures';
import { escapeMarkdown } from '../../plainText';
import type { AgentState } from '../../agents/agentStates';
import { messagesText, sessionDescription, sessionTitle, sessionTooltip, sortTexts } from '../sessionText';
import type { WaitingSession } from '../../chat/waitingSession';

export type SessionNode =
  | { readonly kind: 'group'; readonly group: DateGroup | 'archived' | 'trashed' | 'agents' | 'others' }
  /** `other`: the store folder of another workspace; null for this one. */
  | { readonly kind: 'session'; readonly session: Session; readonly other: OtherWorkspace | null; readonly under?: string }
  | { readonly kind: 'more'; readonly list: ListName }
  | { readonly kind: 'agent'; readonly agent: AgentState }
  | { readonly kind: 'workspace'; readonly workspace: OtherWorkspace }
  | { readonly kind: 'note'; readonly id: string; readonly text: string; readonly icon: string };

/** The session of a row, as menus pass it; null for any other row, and for those of other workspaces. */
export function ownSession(node: unknown): Session | null {
  const { kind, session, other } = (typeof node === 'object' && node !== null ? node : {}) as {
    kind?: unknown;
    session?: Session;
    other?: unknown;
  };
  return kind === 'session' && other === null && session ? session : null;
}

export interface TreeState {
  readonly lists: LoadedLists;
  readonly filter: string;
  readonly sort: SessionSort;
  readonly others: readonly OtherWorkspace[];
  /** Sessions of other workspaces that stand among those of this one; null: they do not. */
  readonly elsewhere: readonly ListedElsewhere[] | null;
  /** Others are still to come. */
  readonly isReading: boolean;
  /** Other programs of this machine whose sessions can be here. */
  readonly agents: readonly AgentState[];
  /** UUID of the session in the chat. */
  readonly current: string | null;
  /** UUIDs of the sessions on show, in the side bar and in editors. */
  readonly shown: ReadonlySet<string>;
  /** UUIDs of those that are being answered. */
  readonly answering: ReadonlySet<string>;
  /** What a turn of a session waits for the user to say, by the session's UUID. */
  readonly waiting: ReadonlyMap<string, WaitingSession['for']>;
  readonly now: number;
}

/** What a row of the tree shows. `context` is what the menus of the manifest look at. */
export interface SessionRow {
  /** The same for as long as it stands for the same thing: what is open and selected stays so. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Markdown. */
  readonly tooltip: string;
  readonly icon: string;
  readonly iconColor: string | null;
  readonly context: string;
  readonly expands: 'never' | 'open' | 'closed';
  /** For screen readers. */
  readonly spoken: string;
}

export function rootNodes(state: TreeState): SessionNode[] {
  const { lists, filter, sort, others, elsewhere, isReading, agents, now } = state;
  const groups: SessionNode[] = groupSessions(listedSessions(state), now, sort).map(({ id }) => ({ kind: 'group', group: id }));
  if (lists.active.hasMore) groups.push({ kind: 'more', list: 'active' });
  groups.push(...elsewhereNotes(elsewhere ?? [], isReading));
  if (lists.archived.sessions.length > 0) groups.push({ kind: 'group', group: 'archived' });
  if (lists.trashed.sessions.length > 0) groups.push({ kind: 'group', group: 'trashed' });
  if (filter !== '')
    return groups.some(({ kind }) => kind === 'group') || isReading
      ? groups
      : [{ kind: 'note', id: 'nothing', text: t('No session matches "{0}"', filter), icon: 'search' }, ...groups];
  if (agents.length > 0) groups.push({ kind: 'group', group: 'agents' });
  return others.length > 0 && elsewhere === null ? [...groups, { kind: 'group', group: 'others' }] : groups;
}

/** What is not among the sessions of all workspaces, and why. */
function elsewhereNotes(elsewhere: readonly ListedElsewhere[], isReading: boolean): SessionNode[] {
  const namesWhere = (which: (part: ListedElsewhere) => boolean) => listed(elsewhere.filter(which).map(({ workspace }) => workspace.name));
  const note = (id: string, names: string, text: (names: string) => string, icon: string): SessionNode[] =>
    names === '' ? [] : [{ kind: 'note', id: `elsewhere:${id}`, text: text(names), icon }];
  return [
    ...(isReading ? note('reading', '…', () => t('Reading other workspaces…'), 'loading~spin') : []),
    ...note(
      'older',
      namesWhere(({ hasMore }) => hasMore),
      (names) => t('Older sessions are not listed: {0}', names),
      'ellipsis',
    ),
    ...note(
      'unread',
      namesWhere(({ state }) => state === 'unread'),
      (names) => t('Could not be read: {0}', names),
      'error',
    ),
    ...note(
      'left',
      namesWhere(({ state }) => state === 'left_out'),
      (names) => t('Not listed: {0}', names),
      'eye-closed',
    ),
  ];
}

/** Sessions of this workspace, and with them those of all others when they are wanted. */
function listedSessions({ lists, elsewhere, sort }: TreeState): readonly Session[] {
  if (elsewhere === null) return lists.active.sessions;
  return inOrder([...lists.active.sessions, ...elsewhere.flatMap(({ sessions }) => sessions)], sort);
}

export function groupNodes(state: TreeState, group: DateGroup | 'archived' | 'trashed' | 'agents' | 'others'): SessionNode[] {
  const { lists, sort, others, elsewhere, agents, now } = state;
  if (group === 'agents') return agents.map((agent) => ({ kind: 'agent', agent }));
  if (group === 'others') return others.map((workspace) => ({ kind: 'workspace', workspace }));
  if (group === 'archived' || group === 'trashed') {
    const list = lists[group];
    return [...sessionNodes(list.sessions, null), ...(list.hasMore ? [{ kind: 'more', list: group } as const] : [])];
  }
  const found = groupSessions(listedSessions(state), now, sort).find(({ id }) => id === group);
  const homes = new Map((elsewhere ?? []).flatMap(({ workspace, sessions }) => sessions.map((session) => [session, workspace] as const)));
  return (found?.sessions ?? []).map((session) => ({ kind: 'session', session, other: homes.get(session) ?? null }));
}

/** `under`: the program whose row they stand under, where they stand a second time. */
export function sessionNodes(sessions: readonly Session[], other: OtherWorkspace | null, under?: string): SessionNode[] {
  return sessions.map((session) => ({ kind: 'session', session, other, ...(under === undefined ? {} : { under }) }));
}

export function rowOf(node: SessionNode, state: TreeState): SessionRow {
  switch (node.kind) {
    case 'group':
      return groupRow(node.group, state);
    case 'session':
      return sessionRow(node.session, node.other, state, node.under);
    case 'agent':
      return agentRow(node.agent);
    case 'workspace':
      return workspaceRow(node.workspace, state.now);
    case 'more':
      return {
        ...plain,
        id: `more:${node.list}`,
        label: t('Show more…'),
        icon: 'ellipsis',
        context: 'more',
        spoken: t('Show more sessions'),
      };
    case 'note':
      return { ...plain, id: `note:${node.id}`, label: node.text, icon: node.icon, context: 'note', spoken: node.text };
  }
}

const plain = { description: '', tooltip: '', iconColor: null, expands: 'never' } as const;

function groupRow(
  group: DateGroup | 'archived' | 'trashed' | 'agents' | 'others',
  { lists, filter, sort, others, agents }: TreeState,
): SessionRow {
  // Under another id, so that a filter opens what it has found in, whatever the user has closed before.
  const id = `group:${group}${filter === '' ? '' : ':filtered'}`;
  const opened = filter === '' ? 'closed' : 'open';
  const count = (list: ListName) => `${lists[list].sessions.length}${lists[list].hasMore ? '+' : ''}`;
  if (group === 'archived')
    return {
      ...plain,
      id,
      label: t('Archived'),
      description: count('archived'),
      icon: 'archive',
      context: 'group.archived',
      expands: opened,
      spoken: t('Archived, {0}', count('archived')),
    };
  if (group === 'trashed')
    return {
      ...plain,
      id,
      label: t('Trash'),
      description: count('trashed'),
      icon: 'trash',
      context: 'group.trash',
      expands: opened,
      spoken: t('Trash, {0}', count('trashed')),
    };
  if (group === 'agents') {
    const watched = t('{0} watched', agents.filter(({ state }) => state !== 'off').length);
    return {
      ...plain,
      id,
      label: t('Other Agents'),
      description: watched,
      icon: 'broadcast',
      context: 'group.agents',
      expands: 'closed',
      spoken: t('Other agents, {0}', watched),
    };
  }
  if (group === 'others')
    return {
      ...plain,
      id,
      label: t('Other Workspaces'),
      description: String(others.length),
      icon: 'folder-library',
      context: 'group.others',
      expands: 'closed',
      spoken: t('Other workspaces, {0}', others.length),
    };
  const order = group === 'sorted' ? sortTexts[sort]() : '';
  return {
    ...plain,
    id,
    label: groupLabels[group](),
    description: order,
    icon: '',
    context: 'group',
    expands: 'open',
    spoken: listed([groupLabels[group](), order].filter((part) => part !== '')),
  };
}

function agentRow({ id, name, icon, state, text, problems }: AgentState): SessionRow {
  return {
    id: `agent:${id}`,
    label: name,
    description: text,
    tooltip: problems.map((problem) => escapeMarkdown(problem)).join('\n\n'),
    icon: state === 'unread' ? 'warning' : icon,
    iconColor: null,
    context: `agent.${state === 'off' ? 'off' : 'on'}`,
    expands: state === 'off' ? 'never' : 'closed',
    spoken: listed([name, text]),
  };
}

/** The program that a session was said to; undefined: this one. */
function programIn({ metadata }: Session): ReturnType<typeof programOf> {
  const from = metadata['importedFrom'];
  return isObject(from) ? programOf(from['format']) : undefined;
}

function sessionRow(
  session: Session,
  other: OtherWorkspace | null,
  { shown, answering, waiting, elsewhere, sort, now }: TreeState,
  under?: string,
): SessionRow {
  const isShown = other === null && shown.has(session.uuid);
  const isAnswering = other === null && answering.has(session.uuid);
  const title = sessionTitle(session);
  const waitsFor = other === null ? waiting.get(session.uuid) : undefined;
  const state = waitsFor ? waitingWords[waitsFor]() : isAnswering ? t('answering') : isShown ? t('open') : '';
  const program = programIn(session);
  // Under the row of its workspace it need not say so.
  const home = other && elsewhere ? other.name : '';
  const origin = [home, program && under === undefined ? program.name : ''].filter((part) => part !== '');
  const description = [...origin, sessionDescription(session, now, sort)].join(' · ');
  return {
    id: `session:${under === undefined ? '' : `${under}:`}${other ? `${other.folder}:` : ''}${session.uuid}`,
    label: title,
    description: state === '' ? description : `${state} · ${description}`,
    tooltip: sessionTooltip(session, other?.place ?? null),
    icon: waitsFor
      ? 'bell-dot'
      : isAnswering
        ? 'loading~spin'
        : isShown
          ? 'comment-discussion'
          : session.parentSession === null
            ? (program?.icon ?? 'comment')
            : 'repo-forked',
    iconColor: waitsFor ? 'list.warningForeground' : isShown || isAnswering ? 'list.highlightForeground' : null,
    context: other ? 'session.other' : contextOf(session),
    expands: 'never',
    spoken: listed(
      [title, home, program?.name ?? '', state, ago(session.updatedAt, now), messagesText(session)].filter((part) => part !== ''),
    ),
  };
}

const waitingWords = { permission: () => t('waits for your permission'), decision: () => t('waits for your decision') } as const;

function contextOf({ deletedAt, archivedAt, pinnedAt }: Session): string {
  if (deletedAt !== null) return 'session.trashed';
  if (archivedAt !== null) return 'session.archived';
  return pinnedAt !== null ? 'session.pinned' : 'session.active';
}

function workspaceRow({ folder, name, place, sessionCount, lastUsed, uri, gone }: OtherWorkspace, now: number): SessionRow {
  const count = sessionCount === null ? '' : t(sessionCount === 1 ? '{0} session' : '{0} sessions', wholeNumber(sessionCount));
  const missing = gone ? t('folder is gone') : '';
  return {
    id: `workspace:${folder}`,
    label: name,
    description: [count, missing, place].filter((part) => part !== '').join(' · '),
    tooltip: '',
    icon: gone ? 'warning' : 'folder',
    iconColor: null,
    context: uri === null || gone ? 'workspace' : 'workspace.folder',
    expands: 'closed',
    spoken: listed([name, count, missing, t('last used {0}', ago(lastUsed, now))].filter((part) => part !== '')),
  };
}

type DateGroup = 'pinned' | 'sorted' | 'today' | 'yesterday' | 'week' | 'older';

interface SessionGroup {
  readonly id: DateGroup;
  readonly sessions: readonly Session[];
}

const groupLabels: Readonly<Record<DateGroup, () => string>> = {
  pinned: () => t('Pinned'),
  sorted: () => t('All Sessions'),
  today: () => t('Today'),
  yesterday: () => t('Yesterday'),
  week: () => t('Last 7 Days'),
  older: () => t('Older'),
};

/**
 * By the local day on which something was last said, or on which they began, in the given order; in any other order all in one. Groups
 * without a session are left out.
 */
export function groupSessions(sessions: readonly Session[], now: number, sort: SessionSort = 'updated'): SessionGroup[] {
  const starts = { today: dayStart(now, 0), yesterday: dayStart(now, 1), week: dayStart(now, 6) };
  const groupOf = ({ pinnedAt, updatedAt, createdAt }: Session): DateGroup => {
    if (pinnedAt !== null) return 'pinned';
    if (sort !== 'updated' && sort !== 'created') return 'sorted';
    const at = sort === 'created' ? createdAt : updatedAt;
    if (at >= starts.today) return 'today';
    if (at >= starts.yesterday) return 'yesterday';
    return at >= starts.week ? 'week' : 'older';
  };
  const groups = new Map<DateGroup, Session[]>();
  for (const session of sessions) {
    const id = groupOf(session);
    const group = groups.get(id);
    if (group) group.push(session);
    else groups.set(id, [session]);
  }
  return (Object.keys(groupLabels) as DateGroup[]).flatMap((id) => {
    const found = groups.get(id);
    return found ? [{ id, sessions: found }] : [];
  });
}

/** Midnight some days ago by the calendar: a day is not always 24 hours long. */
function dayStart(now: number, daysAgo: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - daysAgo).getTime();
}
