import type { FileChange } from '../tools/tool';

/**
 * A whole note, as it is now, without and with a change that a call made to a part of it. Derived and not kept, so that it is there for
 * every call of the history. Null where the note no longer tells: the part has been changed since, stands there twice, or was removed.
 */
export function wholeNoteChange({ path, before, after }: FileChange, now: string): FileChange | null {
  if (before === null || after === '') return null;
  const at = now.indexOf(after);
  if (at === -1 || now.indexOf(after, at + 1) !== -1) return null;
  const end = at + after.length;
  // What was inserted stood on lines of its own.
  const rest = before === '' && !after.endsWith('\n') && now[end] === '\n' ? end + 1 : end;
  return { path, before: now.slice(0, at) + before + now.slice(rest), after: now };
}
