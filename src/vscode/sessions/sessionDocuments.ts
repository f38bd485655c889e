import { languages, Uri, window, workspace, type TextDocumentContentProvider } from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable';
import type { Session } from '../../core/session/session';
import type { OtherSessions } from './tree/otherSessions';
import type { OtherWorkspace } from './tree/otherWorkspace';
import { sessionTitle } from './sessionText';
import { sessionTranscript } from './sessionTranscript';
import { timeText } from '../../core/recall/dateText';
import { speaker } from '../../core/recall/history';
import { entryText, type StoredEntry } from '../../core/session/entry';

const scheme = 'threadkeeper-session';

/**
 * Sessions of other workspaces, in an editor. Not in the chat: there they would look as if one could go on, with this
 * workspace's files and notes under them. Not as a rendered preview either: that loads pictures from wherever an answer says.
 */
export class SessionDocuments implements TextDocumentContentProvider, Disposable {
  private readonly disposables = new DisposableStore();

  constructor(private readonly others: Pick<OtherSessions, 'read'>) {
    this.disposables.add(workspace.registerTextDocumentContentProvider(scheme, this));
  }

  provideTextDocumentContent(uri: Uri): Promise<string> {
    const query = new URLSearchParams(uri.query);
    return this.others.read(query.get('store') ?? '', (store) =>
      sessionTranscript(store, query.get('session') ?? '', query.get('place') ?? ''),
    );
  }

  async open(session: Session, { folder, place }: OtherWorkspace, preview = true): Promise<void> {
    const query = new URLSearchParams({ store: folder, session: session.uuid, place }).toString();
    const name = sessionTitle(session)
      .replaceAll(/[\\/:*?"<>|\s]+/g, ' ')
      .trim()
      .slice(0, 60);
    const document = await workspace.openTextDocument(Uri.from({ scheme, path: `/${name} (${session.id}).md`, query }));
    await languages.setTextDocumentLanguage(document, 'markdown');
    await window.showTextDocument(document, { preview });
  }

  /** The session of another workspace, and beside it what was picked of it. Rejects with `StoreError`. */
  async openEntry(uuid: string, entry: string, workspace: OtherWorkspace): Promise<void> {
    const [session, found] = await this.others.read(workspace.folder, async (store) => [
      await store.session(uuid),
      (await store.entries([entry]))[0],
    ]);
    // The entry would take the place of a transcript in a preview.
    if (session) await this.open(session, workspace, false);
    if (found) await showEntry(found);
  }

  dispose(): void {
    this.disposables.dispose();
  }
}

const entryScheme = 'threadkeeper-entry';
const entryTexts = new Map<string, string>();

/** The whole text of an entry as a document that cannot be edited and asks for nothing when it is closed. */
export async function showEntry({ uuid, seq, content, createdAt }: StoredEntry): Promise<void> {
  const uri = Uri.from({ scheme: entryScheme, path: `/#${seq} ${speaker(content)}, ${timeText(createdAt)}.md`, query: uuid });
  entryTexts.set(uri.toString(), entryText(content));
  const provider = workspace.registerTextDocumentContentProvider(entryScheme, {
    provideTextDocumentContent: (asked) => entryTexts.get(asked.toString()) ?? null,
  });
  try {
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: true });
  } finally {
    // What is open has its text; after a reload of the window VS Code closes it, as it knows nobody who provides it.
    provider.dispose();
    entryTexts.delete(uri.toString());
  }
}
