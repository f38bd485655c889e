import { join } from 'node:path';
import { userFolder } from '../../core/memory/notes';
import type { MemoryNotes } from '../../core/ports';
import { FileMemoryNotes } from './fileMemoryNotes';

/**
 * The notes of a history for programs outside of the editor. Those that hold in every workspace are in the editor's own folder: none is
 * written below `user/` in the history's, where no window reads it. What was written there before can still be read and deleted.
 */
export function workspaceNotes(folder: string): MemoryNotes {
  const notes = new FileMemoryNotes(join(folder, 'notes'));
  return {
    list: () => notes.list(),
    read: (path) => notes.read(path),
    write: (path, text, was) => (path.startsWith(userFolder) ? refuse() : notes.write(path, text, was)),
    delete: (path, was) => notes.delete(path, was),
    rename: (from, to) => (to.startsWith(userFolder) ? refuse() : notes.rename(from, to)),
  };
}

async function refuse(): Promise<never> {
  throw new Error(
    'Notes below /memories/user are kept by the editor and cannot be changed here. Without user/ a note holds in this workspace.',
  );
}
