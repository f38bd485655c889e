import { commands, env, Uri, window } from 'vscode';
import { t } from '../../core/l10n';
import type { Session } from '../../core/session/session';
import type { ChatController } from '../chat/chatController';
import { focusSessionsCommand, selectionArgument, type CommandName } from '../manifest';
import type { SessionDocuments } from './sessionDocuments';
import type { SessionActions } from './sessionActions';
import { sessionsText, sessionTags, purgeText } from './sessionText';
import type { SessionNode } from './tree/sessionNodes';
import { askForDays, askForKey, askForTags, askForTitle, pickSession, pickSort } from './sessionPicker';
import { pickCleanUp } from './retentionPreview';
import type { SessionDetailsFiles } from './sessionDetailsFiles';
import type { SessionsTree } from './tree/sessionsTree';

export interface SessionCommandsDeps {
  readonly controller: Pick<ChatController, 'active' | 'list'>;
  /** Opens a session where it is on show already, or here, and brings that to the front. */
  readonly show: (session: string, options: { readonly preserveFocus: boolean }) => Promise<unknown>;
  /** Opens it and goes to one of its entries. */
  readonly goTo: (session: string, entry: string) => Promise<void>;
  readonly actions: SessionActions;
  readonly tree: SessionsTree;
  readonly documents: Pick<SessionDocuments, 'open' | 'openEntry'>;
  readonly details: Pick<SessionDetailsFiles, 'open'>;
  /** After how many days without use a session may go, as the settings have it; 0: they do not say. */
  readonly cleanUpDays: () => number;
  /** Says something where the user looks. */
  readonly tell: (text: string) => void;
  /** Says it, with a button that takes it back. */
  readonly tellUndoable: (text: string, undo: () => Promise<void>) => void;
  readonly filterChanged: (filtered: boolean) => void;
  /** The Sessions view lists all workspaces from now on, or this one. */
  readonly allShown: (are: boolean) => void;
}

export type SessionCommandName = Extract<
  CommandName,
  | 'switchSession'
  | 'nextSession'
  | 'previousSession'
  | 'renameSession'
  | 'editTags'
  | 'editSessionDetails'
  | 'openSessionByKey'
  | 'sortSessions'
  | 'cleanUpSessions'
  | 'archiveSession'
  | 'unarchiveSession'
  | 'trashSession'
  | 'restoreSession'
  | 'pinSession'
  | 'unpinSession'
  | 'forkSession'
  | 'openWorkspace'
  | 'deleteSession'
  | 'emptyTrash'
  | 'openSession'
  | 'copySessionId'
  | 'showMoreSessions'
  | 'filterSessions'
  | 'clearSessionFilter'
  | 'refreshSessions'
  | 'showAllWorkspaces'
  | 'showThisWorkspace'
>;

/**
 * Commands about sessions. From the tree they are told which (the row, and all rows that are selected); from the palette they
 * mean the session in the chat.
 */
export class SessionCommands {
  constructor(private readonly deps: SessionCommandsDeps) {}

  readonly all: Readonly<Record<SessionCommandName, (args: readonly unknown[]) => Promise<void>>> = {
    switchSession: () => this.switchSession(),
    nextSession: () => this.step(1),
    previousSession: () => this.step(-1),
    renameSession: (args) => this.withOne(args, (session) => this.rename(session)),
    editTags: (args) => this.withOne(args, (session) => this.editTags(session)),
    editSessionDetails: (args) => this.withOne(args, (session) => this.deps.details.open(session)),
    openSessionByKey: () => this.openByKey(),
    sortSessions: () => this.sort(),
    cleanUpSessions: () => this.cleanUp(),
    archiveSession: (args) => this.withAll(args, (sessions) => this.archive(sessions)),
    unarchiveSession: (args) => this.withAll(args, async (sessions) => void (await this.deps.actions.archive(sessions, false))),
    trashSession: (args) => this.withAll(args, (sessions) => this.trash(sessions)),
    deleteSession: (args) => this.withAll(args, (sessions) => this.deleteForGood(sessions)),
    emptyTrash: () => this.emptyTrash(),
    restoreSession: (args) => this.withAll(args, (sessions) => this.deps.actions.restore(sessions)),
    pinSession: (args) => this.withAll(args, (sessions) => this.deps.actions.pin(sessions, true)),
    unpinSession: (args) => this.withAll(args, (sessions) => this.deps.actions.pin(sessions, false)),
    forkSession: (args) => this.withOne(args, (session) => this.fork(session)),
    openSession: async (args) => {
      const [node, entry] = args;
      if (typeof node === 'string') return this.follow(node, typeof entry === 'string' ? entry : null);
      if (isNode(node) && node.kind === 'session' && node.other) return this.deps.documents.open(node.session, node.other);
      return this.withOne(args, (session) => this.open(session));
    },
    openWorkspace: async ([node]) => {
      const workspace = isNode(node) ? (node.kind === 'workspace' ? node.workspace : node.kind === 'session' ? node.other : null) : null;
      if (workspace?.uri) await commands.executeCommand('vscode.openFolder', Uri.parse(workspace.uri), { forceNewWindow: true });
    },
    copySessionId: async (args) => {
      const [node] = args;
      if (isNode(node) && node.kind === 'session') await env.clipboard.writeText(node.session.id);
    },
    showMoreSessions: async ([node]) => {
      if (isNode(node) && node.kind === 'more') this.deps.tree.showMore(node.list);
    },
    filterSessions: () => this.filter(),
    clearSessionFilter: async () => this.setFilter(''),
    refreshSessions: () => this.deps.tree.renew(),
    showAllWorkspaces: () => this.showAllWorkspaces(true),
    showThisWorkspace: () => this.showAllWorkspaces(false),
  };

  private async switchSession(): Promise<void> {
    const { controller } = this.deps;
    await controller.active.open();
    const uuid = await pickSession(await controller.list.read(), controller.active.session?.uuid);
    if (uuid !== undefined) await this.show(uuid);
  }

  /** To the session that stands so many below the one on show, in the order of their last use; from an end it goes to the other. */
  private async step(by: 1 | -1): Promise<void> {
    const { controller } = this.deps;
    await controller.active.open();
    const sessions = await controller.list.read();
    const at = sessions.findIndex(({ uuid }) => uuid === controller.active.session?.uuid);
    const to = sessions[at < 0 ? 0 : (at + by + sessions.length) % sessions.length];
    if (to) await this.show(to.uuid);
  }

  private async open(session: Session): Promise<void> {
    // The keyboard stays with the list: F2 and Delete mean the row that was pressed.
    if (session.deletedAt === null) return this.show(session.uuid, true);
    const restore = t('Restore and Open');
    const answer = await window.showInformationMessage(t('{0} is in the trash.', sessionsText([session])), restore);
    if (answer !== restore) return;
    await this.deps.actions.restore([session]);
    await this.show(session.uuid);
  }

  /** A link may come from anywhere, and lead to a session of another workspace or to none. */
  private async follow(uuid: string, entry: string | null): Promise<void> {
    if (!(await this.deps.actions.find(uuid)))
      throw new Error(t('This session is not in the history of this workspace. Open the folder that it belongs to, then the link again.'));
    await (entry === null ? this.show(uuid) : this.deps.goTo(uuid, entry));
  }

  private async show(uuid: string, preserveFocus = false): Promise<void> {
    await this.deps.show(uuid, { preserveFocus });
  }

  private async rename(session: Session): Promise<void> {
    const title = await askForTitle(session.title);
    if (title !== undefined) await this.deps.actions.rename(session.uuid, title);
  }

  private async editTags(session: Session): Promise<void> {
    // Another window may have changed them since they were listed.
    const { actions } = this.deps;
    const tags = await askForTags(sessionTags((await actions.find(session.uuid)) ?? session));
    if (tags !== undefined) await actions.saveDetails(session.uuid, { metadata: { tags } });
  }

  private async openByKey(): Promise<void> {
    const key = await askForKey();
    if (key !== undefined) await this.show(await this.deps.actions.openByKey(key));
  }

  private async sort(): Promise<void> {
    const { tree } = this.deps;
    const sort = await pickSort(tree.sort);
    if (sort === undefined) return;
    await tree.setSort(sort);
    await commands.executeCommand(focusSessionsCommand);
  }

  private async cleanUp(): Promise<void> {
    const { actions, cleanUpDays, tell, tellUndoable } = this.deps;
    const days = await askForDays(cleanUpDays());
    if (days === undefined) return;
    const due = await actions.idle(days);
    if (due.length === 0) return tell(t('There is nothing to clean up: every session is pinned, open or has been used since.'));
    const chosen = await pickCleanUp(due);
    if (!chosen || chosen.length === 0) return;
    await actions.trash(chosen);
    tellUndoable(t('Moved {0} to the trash. It can be restored from there.', sessionsText(chosen)), () => actions.restore(chosen));
  }

  private async fork(session: Session): Promise<void> {
    const { actions, tell } = this.deps;
    const forked = await actions.fork(session.uuid);
    if (forked) await this.show(forked.uuid);
    else tell(t('There is nothing to fork: this session has no messages yet.'));
  }

  private async archive(sessions: readonly Session[]): Promise<void> {
    const { actions, tellUndoable } = this.deps;
    const left = await actions.archive(sessions, true);
    tellUndoable(t('Archived {0}. Searches still look there.', sessionsText(sessions)), async () => {
      await actions.archive(sessions, false);
      if (left) await this.show(sessions[0]!.uuid);
    });
  }

  private async trash(sessions: readonly Session[]): Promise<void> {
    const { actions, controller, tellUndoable } = this.deps;
    const kept = sessions.filter(({ deletedAt }) => deletedAt === null);
    // Delete, pressed once more.
    if (kept.length === 0) return this.deleteForGood(sessions);
    const shown = controller.active.session?.uuid;
    const left = await actions.trash(kept);
    tellUndoable(t('Moved {0} to the trash. It can be restored from there.', sessionsText(kept)), async () => {
      await actions.restore(kept);
      if (left && shown !== undefined) await this.show(shown);
    });
  }

  private async emptyTrash(): Promise<void> {
    const trashed = await this.deps.actions.trashed();
    if (trashed.length === 0) this.deps.tell(t('The trash is empty.'));
    else await this.deleteForGood(trashed);
  }

  private async deleteForGood(sessions: readonly Session[]): Promise<void> {
    const { actions } = this.deps;
    const trashed = sessions.filter(({ deletedAt }) => deletedAt !== null);
    if (trashed.length === 0) return;
    const answer = t('Delete Permanently');
    const detail = purgeText(await actions.purgePreview(trashed));
    if ((await window.showWarningMessage(t('Permanently delete {0}?', sessionsText(trashed)), { modal: true, detail }, answer)) === answer)
      await actions.purge(trashed);
  }

  private async filter(): Promise<void> {
    const { tree } = this.deps;
    const text = await window.showInputBox({
      title: t('Filter Sessions'),
      value: tree.filter,
      prompt: t('Part of a title or id, #tag, or meta:name=value. Empty: show all.'),
    });
    if (text === undefined) return;
    this.setFilter(text);
    await commands.executeCommand(focusSessionsCommand);
  }

  private setFilter(text: string): void {
    const { tree, filterChanged } = this.deps;
    tree.setFilter(text);
    filterChanged(tree.filter !== '');
  }

  private async showAllWorkspaces(are: boolean): Promise<void> {
    const { tree, allShown } = this.deps;
    allShown(are);
    await commands.executeCommand(focusSessionsCommand);
    await tree.showAllWorkspaces(are);
  }

  private async withOne(args: readonly unknown[], run: (session: Session) => Promise<void>): Promise<void> {
    await this.withAll(args, async ([first]) => (first ? run(first) : undefined));
  }

  /** Does nothing but say so where no session is meant. */
  private async withAll(args: readonly unknown[], run: (sessions: readonly Session[]) => Promise<void>): Promise<void> {
    const { controller, tree, tell } = this.deps;
    const [first, all] = args;
    if (first === selectionArgument || isNode(first)) {
      const nodes = isNode(first) ? (Array.isArray(all) && all.length > 0 ? all.filter(isNode) : [first]) : tree.view.selection;
      const sessions = nodes.flatMap((node) => (node.kind === 'session' && node.other === null ? [node.session] : []));
      if (sessions.length > 0) await run(sessions);
      return;
    }
    await controller.active.open();
    if (controller.active.session) await run([controller.active.session]);
    else tell(t('No session is open: it comes into being with its first message.'));
  }
}

/** A row of the Sessions view. */
export function isNode(value: unknown): value is SessionNode {
  return typeof value === 'object' && value !== null && 'kind' in value;
}
