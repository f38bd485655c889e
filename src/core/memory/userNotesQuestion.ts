import { t } from '../l10n';
import type { ApprovalQuestion } from '../tools/tool';
import type { MemoryWrite } from './memoryTool';
import { memoryRoot, userFolder } from './notePath';

/**
 * What is asked before notes change that hold in every workspace: what is written there in one of them, perhaps because of something that
 * the model has read there, is read in all others. Null for the notes of the workspace, which the model keeps unasked.
 */
export function userNotesQuestion(writes: readonly MemoryWrite[]): ApprovalQuestion | null {
  const touched = writes.filter(({ path, from }) => path.startsWith(userFolder) || from?.startsWith(userFolder));
  const [first] = touched;
  if (!first) return null;
  const change =
    touched.length === 1 && first.op !== 'rename' && first.after !== null
      ? { path: shown(first.path), before: first.before, after: first.after }
      : null;
  const list =
    touched.length === 1 ? [] : touched.map(({ path, from }) => (from === undefined ? shown(path) : `${shown(from)} → ${shown(path)}`));
  const detail = [t('The model reads these notes in every session, in every workspace.'), ...list].join('\n');
  return { kind: 'write', title: titleOf(first, touched.length), detail, everyTime: false, change };
}

function titleOf({ op, path, from }: MemoryWrite, count: number): string {
  if (count > 1) return t('Change {0} notes that hold in every workspace', count);
  if (op === 'delete') return t('Delete the note {0}, which holds in every workspace', shown(path));
  if (op === 'rename') return t('Rename the note {0} to {1}', shown(from ?? ''), shown(path));
  return t('Change the note {0}, which holds in every workspace', shown(path));
}

function shown(path: string): string {
  return `${memoryRoot}/${path}`;
}
