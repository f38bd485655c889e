import { commands, env, extensions, TabInputText, window, workspace, type QuickPickItem, type Uri } from 'vscode';
import { t } from '../../core/l10n';
import { searchTyped } from '../../core/recall/parseSearchText';
import type { SessionStore } from '../../core/ports';
import type { Attachment } from '../../core/session/userMessage';
import { changesText, endOf, pastChatText, pastEntryText } from '../../core/transfer/attachedText';
import type { ChatController } from '../chat/chatController';
import { pickFromHistory } from '../sessions/historySearch';
import { pickSession } from '../sessions/sessionPicker';
import { workspacePath } from '../tools/openFolders';
import type { AttachmentMaker } from './attachmentMaker';
import { lastTextEditor } from '../lastTextEditor';

export interface AttachMenuDeps {
  readonly controller: Pick<ChatController, 'active' | 'list'>;
  readonly store: () => Promise<SessionStore>;
  readonly maker: AttachmentMaker;
}

/** Characters of a terminal's output, and entries of a past chat that are looked at. */
const bounds = { terminal: 30_000, entries: 100 };

interface Item extends QuickPickItem {
  readonly make: () => Promise<readonly Attachment[]>;
}

/** Everything that can go with a message, behind the paperclip. Rejects, in words for the user, for what cannot be attached. */
export class AttachMenu {
  constructor(private readonly deps: AttachMenuDeps) {}

  /** What the user has chosen; empty when the list was closed. */
  async choose(): Promise<readonly Attachment[]> {
    const { maker } = this.deps;
    const items: Item[] = [
      { label: `$(file-media) ${t('Image or File…')}`, description: t('from this computer'), make: () => this.fromDisk() },
      { label: `$(folder) ${t('Folder…')}`, description: t('the names of its files'), make: () => this.folder() },
      { label: `$(files) ${t('Open Editors…')}`, make: () => this.editors() },
      { label: `$(selection) ${t('Selection')}`, make: async () => [await maker.selection(lastTextEditor())] },
      { label: `$(warning) ${t('Problems')}`, make: async () => [await maker.problems()] },
      { label: `$(terminal) ${t('Terminal Output')}`, description: t('the last command'), make: async () => [await this.terminal()] },
      { label: `$(git-compare) ${t('Changes')}`, description: t('of Git, not committed'), make: async () => [await this.changes()] },
      { label: `$(comment-discussion) ${t('Past Chat…')}`, make: () => this.session() },
      { label: `$(history) ${t('Search in History…')}`, make: () => this.history() },
    ];
    const picked = await window.showQuickPick(items, { title: t('Add Context'), placeHolder: t('What the message is about') });
    return (await picked?.make()) ?? [];
  }

  /** What the last command of the terminal in front has printed, by VS Code's shell integration. */
  async terminal(): Promise<Attachment> {
    const { activeTerminal } = window;
    if (!activeTerminal) throw new Error(t('There is no terminal to take output from.'));
    // Only its own commands reach what a terminal has printed, and they put it into the clipboard.
    const before = await env.clipboard.readText();
    const mark = `threadkeeper ${Date.now()}`;
    let text = mark;
    try {
      await env.clipboard.writeText(mark);
      await commands.executeCommand('workbench.action.terminal.copyLastCommandAndLastCommandOutput');
      text = await env.clipboard.readText();
    } finally {
      await env.clipboard.writeText(before);
    }
    if (text === mark || text.trim() === '')
      throw new Error(
        t('The terminal “{0}” has no command whose output is known. Shell integration is needed for that.', activeTerminal.name),
      );
    return this.deps.maker.text(endOf(text, bounds.terminal), { kind: 'terminal', name: activeTerminal.name });
  }

  /** What is changed and not committed, staged or not. */
  async changes(): Promise<Attachment> {
    const git = extensions.getExtension<GitExtension>('vscode.git');
    const { repositories } = (await git?.activate())?.getAPI(1) ?? { repositories: [] };
    const texts = await Promise.all(repositories.flatMap((repository) => [repository.diff(true), repository.diff(false)]));
    const text = texts.filter((one) => one.trim() !== '').join('\n');
    if (text === '') throw new Error(t('Git has no changes here to attach.'));
    return this.deps.maker.text(changesText(text), { kind: 'changes', name: t('Changes') });
  }

  private async fromDisk(): Promise<Attachment[]> {
    const uris = (await window.showOpenDialog({ canSelectMany: true, openLabel: t('Attach'), ...inWorkspace() })) ?? [];
    return Promise.all(uris.map((uri) => this.deps.maker.chosen(uri)));
  }

  private async folder(): Promise<Attachment[]> {
    const uris = await window.showOpenDialog({ canSelectFolders: true, canSelectFiles: false, openLabel: t('Attach'), ...inWorkspace() });
    return Promise.all((uris ?? []).map((uri) => this.deps.maker.resource(uri)));
  }

  private async editors(): Promise<Attachment[]> {
    const uris = window.tabGroups.all.flatMap(({ tabs }) =>
      tabs.flatMap(({ input }) => (input instanceof TabInputText ? [input.uri] : [])),
    );
    const open = [...new Map(uris.filter((uri) => workspace.getWorkspaceFolder(uri)).map((uri) => [uri.toString(), uri])).values()];
    if (open.length === 0) throw new Error(t('No file of this workspace is open in an editor.'));
    const items = open.map((uri) => ({ label: workspacePath(uri) ?? workspace.asRelativePath(uri), uri, picked: true }));
    const picked = await window.showQuickPick(items, { title: t('Open Editors'), canPickMany: true });
    return Promise.all((picked ?? []).map(({ uri }) => this.deps.maker.resource(uri)));
  }

  /** Its summary, where it has one, and its newest messages. */
  private async session(): Promise<Attachment[]> {
    const { active, list } = this.deps.controller;
    const current = active.session?.uuid;
    const uuid = await pickSession(
      (await list.read()).filter((one) => one.uuid !== current),
      current,
      t('Past Chat'),
    );
    const store = await this.deps.store();
    const session = uuid === undefined ? undefined : await store.session(uuid);
    if (!session) return [];
    const { entries } = await store.page(session.uuid, { limit: bounds.entries });
    return [
      await this.deps.maker.text(pastChatText(session, entries), {
        kind: 'session',
        name: session.title === '' ? session.id : session.title,
      }),
    ];
  }

  private async history(): Promise<Attachment[]> {
    const store = await this.deps.store();
    const picked = await pickFromHistory({ search: (text) => searchTyped(store, text) });
    const [entry] = picked ? await store.entries([picked.entry]) : [];
    if (!entry) return [];
    const from = await store.session(entry.session);
    return [await this.deps.maker.text(pastEntryText(from, entry), { kind: 'session', name: `#${entry.seq}` })];
  }
}

/** As much of VS Code's Git as is asked here. */
interface GitExtension {
  getAPI(version: 1): { readonly repositories: readonly { diff(staged: boolean): Promise<string> }[] };
}

function inWorkspace(): { readonly defaultUri?: Uri } {
  const [folder] = workspace.workspaceFolders ?? [];
  return folder ? { defaultUri: folder.uri } : {};
}
