import { MarkdownString, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, type TreeView } from 'vscode';
import { DisposableStore, type Disposable } from '../../../core/base/disposable';
import { errorText } from '../../../core/errors';
import { shown, t } from '../../../core/l10n';
import type { Logger, SessionStore } from '../../../core/ports';
import type { SessionSort } from '../../../core/session/session';
import type { ChatPlaces } from '../../chat/places/chatPlaces';
import type { WindowState } from '../../chat/windowState';
import { commandIds } from '../../manifest';
import type { LazyTree } from '../../lazyContributions';
import type { Agents } from '../../agents/agents';
import type { OtherHistories } from '../searchOthers';
import { AllWorkspaces } from './allWorkspaces';
import type { OtherSessions } from './otherSessions';
import { listStep, SessionLists, type ListName, type LoadedLists } from './treeLists';
import { groupNodes, rootNodes, rowOf, sessionNodes, type SessionNode, type SessionRow, type TreeState } from './sessionNodes';

export interface SessionsTreeDeps {
  readonly sessionsView: Pick<LazyTree<SessionNode>, 'view' | 'redraw'>;
  readonly store: { get(): Promise<SessionStore> };
  readonly places: Pick<ChatPlaces, 'active' | 'all' | 'chats' | 'state' | 'onDidChangeState'>;
  readonly others: Pick<OtherSessions, 'list' | 'nodes' | 'collapsed' | 'hidden'>;
  readonly histories: OtherHistories;
  readonly agents: Pick<Agents, 'states' | 'onDidChange'>;
  readonly sorting: Pick<WindowState, 'sessionSort' | 'setSessionSort'>;
  readonly now: () => number;
  readonly log: Logger;
  /** Whether to offer an empty workspace another one's history. */
  readonly offersRelink: () => Promise<boolean>;
  /** What the view found. */
  readonly found: (found: { readonly unread: boolean; readonly relinkOffered: boolean; readonly hasTrash: boolean }) => void;
}

/** Entries come several to the second while an answer streams. */
const refreshEveryMs = 300;
/** "5 min ago" grows old. */
const retellEveryMs = 60_000;

const collapsible = {
  never: TreeItemCollapsibleState.None,
  open: TreeItemCollapsibleState.Expanded,
  closed: TreeItemCollapsibleState.Collapsed,
} as const;

/**
 * The Sessions view. Reads the store only while it is visible, and tells VS Code only about changes that can be seen, so that
 * nothing flickers.
 */
export class SessionsTree implements Disposable {
  private readonly disposables = new DisposableStore();
  readonly view: TreeView<SessionNode>;
  private readonly lists = new SessionLists();
  private readonly all: AllWorkspaces;
  private state: TreeState | null = null;
  private drawn = '';
  private stale = false;
  /** The session on show whose row was last brought into sight. */
  private revealed: string | null = null;
  private timer: NodeJS.Timeout | undefined;
  private ticking: NodeJS.Timeout | undefined;
  private loading: Promise<void> | null = null;

  constructor(private readonly deps: SessionsTreeDeps) {
    this.view = deps.sessionsView.view;
    this.all = new AllWorkspaces(deps.histories, () => this.retell());
    this.lists.sort = deps.sorting.sessionSort() ?? 'updated';
    this.disposables.add(deps.places.onDidChangeState(() => this.refresh()));
    this.disposables.add(deps.agents.onDidChange(() => this.refresh()));
    this.disposables.add(this.view.onDidChangeVisibility(({ visible }) => this.shown(visible)));
    this.disposables.add(
      this.view.onDidCollapseElement(({ element }) => void (element.kind === 'workspace' && deps.others.collapsed(element.workspace))),
    );
    this.shown(this.view.visible);
  }

  get filter(): string {
    return this.lists.filter;
  }

  setFilter(text: string): void {
    this.lists.filter = text;
    this.view.message = this.filter === '' ? undefined : t('Filtered: {0}', this.filter);
    void this.renew();
  }

  /** Sessions of all workspaces in one list, or of this one. A window begins with this one: nothing of others is read unasked. */
  async showAllWorkspaces(are: boolean): Promise<void> {
    if (!are) this.all.switchOff();
    this.view.description = are ? t('All Workspaces') : undefined;
    await this.renew(are);
  }

  get sort(): SessionSort {
    return this.lists.sort;
  }

  /** Remembered for this workspace. */
  async setSort(sort: SessionSort): Promise<void> {
    this.lists.sort = sort;
    await this.deps.sorting.setSessionSort(sort);
    await this.renew();
  }

  /** Other workspaces as well, where they are listed. Never rejects. */
  async renew(withOthers = this.all.listed !== null): Promise<void> {
    if (withOthers) void this.all.read(this.lists).catch((error: unknown) => this.unlisted(error));
    await this.reload();
  }

  private unlisted(error: unknown): void {
    this.deps.log.warn('other_workspaces_not_listed', { detail: errorText(error) });
    this.all.isReading = false;
    this.retell();
  }

  showMore(list: ListName): void {
    this.lists.showMore(list);
    void this.reload();
  }

  /** Soon, if anybody looks; else when somebody does. */
  refresh(): void {
    if (!this.view.visible) this.stale = true;
    else this.timer ??= setTimeout(() => void this.reload(), refreshEveryMs);
  }

  /** Now, if it was ever shown. Never rejects. */
  async reload(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!this.view.visible) {
      this.stale = true;
      return;
    }
    // What was asked for while another load ran may not be in it.
    while (this.loading) await this.loading;
    await this.load();
    this.draw();
    this.reveal();
  }

  async getChildren(node?: SessionNode): Promise<SessionNode[]> {
    if (!node) {
      if (!this.state) await (this.loading ?? this.load());
      this.drawn = this.picture();
      return this.state ? rootNodes(this.state) : [];
    }
    if (node.kind === 'workspace') return this.deps.others.nodes(node.workspace);
    if (node.kind === 'agent') return this.sessionsOf(node.agent.id);
    return node.kind === 'group' && this.state ? groupNodes(this.state, node.group) : [];
  }

  /** Every row of this workspace's sessions stands in a group. */
  getParent(node: SessionNode): SessionNode | undefined {
    if (node.kind !== 'session' || node.other !== null || node.under !== undefined || !this.state) return undefined;
    const { state } = this;
    return rootNodes(state).find(
      (group) =>
        group.kind === 'group' && group.group !== 'others' && group.group !== 'agents' && this.rowIn(state, group.group, node.session.uuid),
    );
  }

  getTreeItem(node: SessionNode): TreeItem {
    return itemOf(node, rowOf(node, this.state ?? this.nothing()));
  }

  dispose(): void {
    clearTimeout(this.timer);
    clearInterval(this.ticking);
    this.disposables.dispose();
  }

  /** Never rejects: what went wrong is a row. */
  private async sessionsOf(program: string): Promise<SessionNode[]> {
    try {
      const sessions = await (await this.deps.store.get()).listSessions({ program, limit: listStep });
      if (sessions.length > 0) return sessionNodes(sessions, null, program);
      return [{ kind: 'note', id: `empty:${program}`, text: t('No sessions'), icon: 'info' }];
    } catch (error) {
      return [{ kind: 'note', id: `failed:${program}`, text: t('Could not be read: {0}', shown(errorText(error))), icon: 'error' }];
    }
  }

  private shown(visible: boolean): void {
    clearInterval(this.ticking);
    this.ticking = undefined;
    if (!visible) return this.deps.others.hidden();
    this.ticking = setInterval(() => this.retell(), retellEveryMs);
    if (this.stale) void this.reload();
  }

  /** Once for each session that comes on show: what the user does in the tree afterwards stays. The focus stays where it is. */
  private reveal(): void {
    const { state } = this;
    if (!state || state.current === this.revealed || !this.view.visible) return;
    this.revealed = state.current;
    const group = state.lists.active.sessions.some(({ uuid }) => uuid === state.current)
      ? rootNodes(state).find((one) => one.kind === 'group' && one.group !== 'others' && this.rowIn(state, one.group, state.current!))
      : undefined;
    const row = group?.kind === 'group' ? this.rowIn(state, group.group, state.current!) : undefined;
    if (row) this.view.reveal(row, { select: false, focus: false }).then(undefined, () => undefined);
  }

  private rowIn(state: TreeState, group: Parameters<typeof groupNodes>[1], uuid: string): SessionNode | undefined {
    return groupNodes(state, group).find((node) => node.kind === 'session' && node.session.uuid === uuid);
  }

  private retell(): void {
    if (this.state) this.state = { ...this.state, ...this.elsewhere, now: this.deps.now() };
    this.draw();
  }

  private get elsewhere(): Pick<TreeState, 'elsewhere' | 'isReading'> {
    return { elsewhere: this.all.listed, isReading: this.all.isReading };
  }

  private draw(): void {
    if (this.picture() !== this.drawn) this.deps.sessionsView.redraw();
  }

  private load(): Promise<void> {
    this.loading = this.read().finally(() => (this.loading = null));
    return this.loading;
  }

  private async read(): Promise<void> {
    const { store, places, others: otherSessions, agents: agentsHere, offersRelink, now, log, found } = this.deps;
    this.stale = false;
    try {
      const [lists, others, agents] = await Promise.all([
        store.get().then((open) => this.lists.load(open)),
        otherSessions.list(),
        agentsHere.states(),
      ]);
      const relinkOffered = this.filter === '' && isEmpty(lists) && (await offersRelink());
      // The offer stands where rows would: the tree has room for one of them.
      this.state = {
        lists,
        others: relinkOffered ? [] : others,
        ...this.elsewhere,
        // An empty view says what can be done first.
        agents: isEmpty(lists) ? [] : agents,
        filter: this.filter,
        sort: this.sort,
        current: places.active.session?.uuid ?? null,
        shown: new Set(places.all.flatMap(({ controller }) => controller.active.session?.uuid ?? [])),
        answering: new Set(places.chats.answering),
        waiting: waitingOf(places),
        now: now(),
      };
      found({ unread: false, relinkOffered, hasTrash: lists.trashed.sessions.length > 0 });
    } catch (error) {
      log.warn('sessions_not_listed', { detail: errorText(error) });
      this.state = null;
      found({ unread: true, relinkOffered: false, hasTrash: false });
    }
  }

  /** Everything that is drawn of this workspace, to be compared with what was drawn before. */
  private picture(): string {
    const { state } = this;
    if (!state) return '';
    const roots = rootNodes(state);
    const nodes = roots.flatMap((node) => (node.kind === 'group' ? [node, ...groupNodes(state, node.group)] : [node]));
    return JSON.stringify(nodes.map((node) => rowOf(node, state)));
  }

  private nothing(): TreeState {
    const list = { sessions: [], hasMore: false };
    return {
      lists: { active: list, archived: list, trashed: list },
      others: [],
      ...this.elsewhere,
      agents: [],
      filter: this.filter,
      sort: this.sort,
      current: null,
      shown: new Set(),
      answering: new Set(),
      waiting: new Map(),
      now: this.deps.now(),
    };
  }
}

function waitingOf({ state }: Pick<ChatPlaces, 'state'>): TreeState['waiting'] {
  return new Map(state.waiting.map((one) => [one.session.uuid, one.for]));
}

function isEmpty(lists: LoadedLists): boolean {
  return Object.values(lists).every(({ sessions }) => sessions.length === 0);
}

function itemOf(node: SessionNode, row: SessionRow): TreeItem {
  const item = new TreeItem(row.label, collapsible[row.expands]);
  item.id = row.id;
  item.description = row.description;
  item.contextValue = row.context;
  item.accessibilityInformation = { label: row.spoken };
  item.tooltip = row.tooltip === '' ? undefined : new MarkdownString(row.tooltip);
  if (row.icon !== '') item.iconPath = new ThemeIcon(row.icon, row.iconColor === null ? undefined : new ThemeColor(row.iconColor));
  if (node.kind === 'session') item.command = { command: commandIds.openSession, title: t('Open'), arguments: [node] };
  if (node.kind === 'agent' && node.agent.state === 'off') item.command = { command: commandIds.watchAgents, title: t('Watch Agents') };
  if (node.kind === 'more') item.command = { command: commandIds.showMoreSessions, title: t('Show more'), arguments: [node] };
  return item;
}
