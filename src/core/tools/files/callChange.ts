import type { ContentOf } from '../../session/entry';
import { noteName } from '../../memory/notes';
import { memoryToolName } from '../../memory/nudges';
import type { FileChange } from '../tool';

/** Names that the transcript knows: their calls carry what they change. */
export const editFileName = 'edit_file';
export const createFileName = 'create_file';

/** What a call of an edit tool, or of the notes, changes, as far as its input says it; null for other calls. */
export function callChange({ name, input }: Pick<ContentOf<'tool_call'>, 'name' | 'input'>): FileChange | null {
  if (typeof input !== 'object' || input === null) return null;
  const { path, content, old_text: before, new_text: after } = input as Readonly<Record<string, unknown>>;
  if (typeof path !== 'string') return null;
  if (name === memoryToolName) return noteChange(input as Readonly<Record<string, unknown>>, noteName(path));
  if (name === createFileName && typeof content === 'string') return { path, before: null, after: content };
  if (name === editFileName && typeof before === 'string' && typeof after === 'string') return { path, before, after };
  return null;
}

function noteChange(
  { command, file_text: text, old_str: before, new_str: after = '', insert_text: inserted }: Readonly<Record<string, unknown>>,
  path: string,
): FileChange | null {
  if (command === 'create' && typeof text === 'string') return { path, before: null, after: text };
  if (command === 'insert' && typeof inserted === 'string') return { path, before: '', after: inserted };
  return command === 'str_replace' && typeof before === 'string' && typeof after === 'string' ? { path, before, after } : null;
}
