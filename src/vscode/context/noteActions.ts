import { trimmedEnd } from '../../core/base/trimmedEnd';
import { Uri, window } from 'vscode';
import { t } from '../../core/l10n';
import { checkNotePath } from '../../core/memory/notePath';
import { FileMemoryNotes } from '../../node/memory/fileMemoryNotes';

/** Where the notes of this workspace and those of every workspace are. */
export interface NotePlaces {
  readonly workspace: string;
  readonly user: string;
}

/** Where what the user adds by hand goes. */
const ownNote = 'notes.md';
const userFolder = 'user/';

/** Undefined when it is not there. Throws when no note can have that path. */
export function readNote(path: string, places: NotePlaces): Promise<string | undefined> {
  const { folder, inner } = placeOf(path, places);
  return new FileMemoryNotes(folder).read(inner);
}

/** Rejects, in words for the user, when there is no such note any more. */
export async function openNote(path: string, places: NotePlaces): Promise<void> {
  const { relative, folder, inner } = placeOf(path, places);
  if ((await new FileMemoryNotes(folder).read(inner)) === undefined) throw new Error(t('The note {0} is not there any more.', relative));
  await window.showTextDocument(Uri.joinPath(Uri.file(folder), ...inner.split('/')));
}

/** Adds a line to the notes of the workspace, which the model reads from the next cycle on. */
export async function saveNote(places: NotePlaces): Promise<void> {
  const text = await window.showInputBox({
    title: t('Save a Note'),
    prompt: t('What must outlive a compaction: a decision with its reason, a name, a value'),
    placeHolder: t('The gateway listens on port 8443, because 443 is taken'),
  });
  if (text === undefined || text.trim() === '') return;
  const notes = new FileMemoryNotes(places.workspace);
  const before = (await notes.read(ownNote)) ?? `# ${t('Notes')}\n`;
  await notes.write(ownNote, `${trimmedEnd(before, /\n/)}\n- ${text.trim()}\n`);
  await openNote(ownNote, places);
}

function placeOf(path: string, places: NotePlaces): { readonly relative: string; readonly folder: string; readonly inner: string } {
  const relative = checkNotePath(path, 'file');
  const isUsers = relative.startsWith(userFolder);
  return { relative, folder: isUsers ? places.user : places.workspace, inner: isUsers ? relative.slice(userFolder.length) : relative };
}
