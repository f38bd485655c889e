import { trimmedEnd } from '../../core/base/text';
import { Uri, window, FileType, workspace } from 'vscode';
import { t } from '../../core/l10n';
import { checkNotePath } from '../../core/memory/notes';
import { FileMemoryNotes } from '../../node/memory/fileMemoryNotes';

/** Where the notes of this workspace are on this disk, and those that hold in every workspace (`user`). */
export interface NoteFolders {
  readonly workspace: string;
  readonly user: string;
}

/** Where what the user adds by hand goes. */
const ownNote = 'notes.md';
const userFolder = 'user/';

/** Undefined when it is not there. Throws when no note can have that path. */
export function readNote(path: string, folders: NoteFolders): Promise<string | undefined> {
  const { folder, inner } = placeOf(path, folders);
  return new FileMemoryNotes(folder).read(inner);
}

/** Rejects, in words for the user, when there is no such note any more. */
export async function openNote(path: string, folders: NoteFolders): Promise<void> {
  const { relative, folder, inner } = placeOf(path, folders);
  if ((await new FileMemoryNotes(folder).read(inner)) === undefined) throw new Error(t('The note {0} is not there any more.', relative));
  await window.showTextDocument(Uri.joinPath(Uri.file(folder), ...inner.split('/')));
}

/** Adds a line to the notes of the workspace, which the model reads from the next cycle on. */
export async function saveNote(folders: NoteFolders): Promise<void> {
  const text = await window.showInputBox({
    title: t('Save a Note'),
    prompt: t('What must outlive a compaction: a decision with its reason, a name, a value'),
    placeHolder: t('The gateway listens on port 8443, because 443 is taken'),
  });
  if (text === undefined || text.trim() === '') return;
  const notes = new FileMemoryNotes(folders.workspace);
  const add = async () => {
    const before = await notes.read(ownNote);
    const line = `- ${text.trim()}\n`;
    await notes.write(ownNote, `${trimmedEnd(before ?? `# ${t('Notes')}\n`, /\n/)}\n${line}`, before ?? null);
  };
  // A model may have written there at this very moment.
  await add().catch(add);
  await openNote(ownNote, folders);
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

function placeOf(path: string, folders: NoteFolders): { readonly relative: string; readonly folder: string; readonly inner: string } {
  const relative = checkNotePath(path, 'file');
  const isUsers = relative.startsWith(userFolder);
  return { relative, folder: isUsers ? folders.user : folders.workspace, inner: isUsers ? relative.slice(userFolder.length) : relative };
}
