import type { ContentOf } from '../session/entry';
import type { FileChange } from './tool';

/** Names that the transcript knows: their calls carry what they change. */
export const editFileName = 'edit_file';
export const createFileName = 'create_file';

/** What a call of an edit tool changes, as far as its input says it; null for other calls. */
export function callChange({ name, input }: Pick<ContentOf<'tool_call'>, 'name' | 'input'>): FileChange | null {
  if (typeof input !== 'object' || input === null) return null;
  const { path, content, old_text: before, new_text: after } = input as Readonly<Record<string, unknown>>;
  if (typeof path !== 'string') return null;
  if (name === createFileName && typeof content === 'string') return { path, before: null, after: content };
  if (name === editFileName && typeof before === 'string' && typeof after === 'string') return { path, before, after };
  return null;
}
