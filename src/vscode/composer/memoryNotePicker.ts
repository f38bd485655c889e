import { FileType, Uri, window, workspace } from 'vscode';
import { t } from '../../core/l10n';

/** On this disk; `user` holds in every workspace. */
export interface NoteFolders {
  readonly workspace: string;
  readonly user: string;
}

/** Opens one of the model's notes in an editor: they are plain files, and what is saved there is what the model reads next. */
export async function pickMemoryNote(folders: NoteFolders): Promise<void> {
  const own = await notesIn(Uri.file(folders.workspace), t('this workspace'));
  const everywhere = await notesIn(Uri.file(folders.user), t('every workspace'));
  const notes = [...own, ...everywhere];
  if (notes.length === 0) {
    void window.showInformationMessage(
      t('There are no notes yet. The model writes them as a conversation grows; you can also ask it to remember something.'),
    );
    return;
  }
  const picked =
    notes.length === 1
      ? notes[0]
      : await window.showQuickPick(notes, {
          title: t('Open Memory Notes'),
          placeHolder: t('A note to read or edit'),
          matchOnDescription: true,
        });
  if (picked) await window.showTextDocument(picked.uri);
}

interface NoteItem {
  readonly label: string;
  readonly description: string;
  readonly uri: Uri;
}

async function notesIn(folder: Uri, description: string, prefix = ''): Promise<NoteItem[]> {
  const entries = await Promise.resolve(workspace.fs.readDirectory(folder)).catch(() => []);
  const found = await Promise.all(
    entries.map(async ([name, type]): Promise<NoteItem[]> => {
      const uri = Uri.joinPath(folder, name);
      // Files that begin with a dot are on their way to their place, or are not ours.
      if (name.startsWith('.')) return [];
      return (type & FileType.Directory) !== 0
        ? notesIn(uri, description, `${prefix}${name}/`)
        : [{ label: `${prefix}${name}`, description, uri }];
    }),
  );
  return found.flat();
}
