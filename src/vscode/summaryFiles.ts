import { Disposable as VscodeDisposable, EventEmitter, FileSystemError, FileType, languages, Uri, window, workspace, type FileChangeEvent, type FileStat, type FileSystemProvider } from 'vscode';
import { DisposableStore, type Disposable } from '../core/base/disposable';
import type { Conversation } from '../core/chat/conversation';
import { errorText } from '../core/errors';
import { liveCompaction } from '../core/session/liveCompaction';
import type { ChatController } from './chatController';
import { summaryScheme } from './contributions';
import { sessionTitle } from './sessionText';

interface Opened {
  /** The compaction whose summary is being edited: another one may have taken its place by the time it is saved. */
  compaction: string;
  text: string;
  savedAt: number;
}

/**
 * The summary that stands for the folded messages, as a file: saving it records a new version, closing it without saving changes
 * nothing, and VS Code keeps what is unsaved through a reload.
 */
export class SummaryFiles implements FileSystemProvider, Disposable {
  private readonly disposables = new DisposableStore();
  private readonly changed = this.disposables.add(new EventEmitter<FileChangeEvent[]>());
  readonly onDidChangeFile = this.changed.event;
  private readonly opened = new Map<string, Opened>();

  constructor(private readonly controller: Pick<ChatController, 'conversation'>) {
    this.disposables.add(workspace.registerFileSystemProvider(summaryScheme, this, { isCaseSensitive: true }));
    this.disposables.add(workspace.onDidCloseTextDocument(({ uri }) => void this.opened.delete(uri.toString())));
  }

  /** Rejects in words for the user when there is no summary. */
  async open(conversation: Conversation): Promise<void> {
    const live = liveCompaction(conversation.entries);
    if (!live || conversation.editableSummary === null) throw new Error('There is no summary to edit: nothing of this conversation has been compacted.');
    const name = sessionTitle(conversation.session).replaceAll(/[\\/:*?"<>|\s]+/g, ' ').trim().slice(0, 60);
    const query = new URLSearchParams({ session: conversation.session.uuid, compaction: live.uuid }).toString();
    const document = await workspace.openTextDocument(Uri.from({ scheme: summaryScheme, path: `/Summary of ${name}.md`, query }));
    await languages.setTextDocumentLanguage(document, 'markdown');
    await window.showTextDocument(document, { preview: false });
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { text, savedAt } = await this.read(uri);
    return { type: FileType.File, ctime: 0, mtime: savedAt, size: Buffer.byteLength(text) };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    return Buffer.from((await this.read(uri)).text);
  }

  /** Rejects with the reason when the summary stays as it was; VS Code shows it and keeps the document unsaved. */
  async writeFile(uri: Uri, bytes: Uint8Array): Promise<void> {
    const opened = await this.read(uri);
    const text = Buffer.from(bytes).toString('utf8');
    if (text.trim() === opened.text.trim()) {
      window.setStatusBarMessage('$(info) Threadkeeper: nothing changed, the summary stays as it was.', lineMs);
      return;
    }
    const conversation = await this.conversation(uri);
    if (liveCompaction(conversation.entries)?.uuid !== opened.compaction) {
      throw FileSystemError.Unavailable('The conversation has got another summary since this one was opened. Copy what you need, close this document and use “Edit Summary…” again.');
    }
    const { entry, message } = await conversation.editSummary(text);
    if (!entry) throw FileSystemError.Unavailable(message ?? 'The summary stays as it was.');
    this.opened.set(uri.toString(), { compaction: entry.uuid, text, savedAt: Date.now() });
    window.setStatusBarMessage('$(check) Threadkeeper: the model sees your version of the summary from the next message on.', lineMs);
  }

  watch(): VscodeDisposable {
    return new VscodeDisposable(() => undefined);
  }

  readDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  createDirectory(): never {
    throw FileSystemError.NoPermissions();
  }

  delete(): never {
    throw FileSystemError.NoPermissions();
  }

  rename(): never {
    throw FileSystemError.NoPermissions();
  }

  dispose(): void {
    this.disposables.dispose();
  }

  private async read(uri: Uri): Promise<Opened> {
    const known = this.opened.get(uri.toString());
    if (known) return known;
    const conversation = await this.conversation(uri);
    const live = liveCompaction(conversation.entries);
    const text = conversation.editableSummary;
    if (!live || text === null || !conversation.entries.some(({ uuid }) => uuid === idOf(uri, 'compaction'))) throw FileSystemError.FileNotFound('This summary is not in use any more.');
    const opened = { compaction: live.uuid, text, savedAt: live.createdAt };
    this.opened.set(uri.toString(), opened);
    return opened;
  }

  private async conversation(uri: Uri): Promise<Conversation> {
    const conversation = await this.controller.conversation().catch((error: unknown) => {
      throw FileSystemError.Unavailable(errorText(error));
    });
    if (conversation?.session.uuid !== idOf(uri, 'session')) throw FileSystemError.Unavailable('This summary belongs to another session. Open that session in the chat, then save again.');
    return conversation;
  }
}

const lineMs = 8_000;

function idOf(uri: Uri, name: 'session' | 'compaction'): string | null {
  return new URLSearchParams(uri.query).get(name);
}
