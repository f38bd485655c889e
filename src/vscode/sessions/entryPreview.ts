import { Uri, window, workspace } from 'vscode';
import { timeText } from '../../core/recall/dateText';
import { speaker } from '../../core/recall/history';
import type { StoredEntry } from '../../core/session/entry';
import { entryText } from '../../core/session/entryKinds';

const scheme = 'threadkeeper-entry';
const texts = new Map<string, string>();

/** The whole text of an entry as a document that cannot be edited and asks for nothing when it is closed. */
export async function showEntry({ uuid, seq, content, createdAt }: StoredEntry): Promise<void> {
  const uri = Uri.from({ scheme, path: `/#${seq} ${speaker(content)}, ${timeText(createdAt)}.md`, query: uuid });
  texts.set(uri.toString(), entryText(content));
  const provider = workspace.registerTextDocumentContentProvider(scheme, {
    provideTextDocumentContent: (asked) => texts.get(asked.toString()) ?? null,
  });
  try {
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: true });
  } finally {
    // What is open has its text; after a reload of the window VS Code closes it, as it knows nobody who provides it.
    provider.dispose();
    texts.delete(uri.toString());
  }
}
