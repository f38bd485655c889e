import { join } from 'node:path';
import type { MemoryNotes } from '../../core/ports';
import { FileMemoryNotes, ScopedMemoryNotes } from './fileMemoryNotes';

/**
 * The notes of a history for programs outside of the editor. Those that hold in every workspace are in the editor's own folder: what was
 * written below `user/` in the history's would be read by nobody there.
 */
export function workspaceNotes(folder: string): MemoryNotes {
  return new ScopedMemoryNotes(new FileMemoryNotes(join(folder, 'notes')), noUserNotes);
}

async function refuse(): Promise<never> {
  throw new Error(
    'Notes below /memories/user are kept by the editor and cannot be changed here. Without user/ a note holds in this workspace.',
  );
}

const noUserNotes: MemoryNotes = { list: async () => [], read: async () => undefined, write: refuse, delete: refuse, rename: refuse };
