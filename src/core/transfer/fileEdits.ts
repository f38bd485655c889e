import { isObject, type Json } from '../base/json';
import type { Uncovered } from '../rewind/fileChanges';
import { noted, type HeldEdit, type RecordPart } from './sourceRecord';

/** An edit as a source tells it; a side that it does not hold is undefined. */
export interface ForeignEdit {
  readonly path: string;
  readonly before: string | null | undefined;
  readonly after: string | null | undefined;
}

/** The mark of edits that a record tells of, the last of its parts; none when it tells of none. `cwd`: the source's folder. */
export function editParts(edits: readonly ForeignEdit[], cwd: string): RecordPart[] {
  const held: HeldEdit[] = [];
  const uncovered: Uncovered[] = [];
  for (const { path, before, after } of edits) {
    const place = placeIn(cwd, path);
    if (!place) uncovered.push({ path, reason: 'outside' });
    else if (before === undefined || after === undefined) uncovered.push({ path: place.path, reason: 'not_held' });
    else if (before !== after) held.push({ ...place, before, after });
  }
  if (held.length + uncovered.length === 0) return [];
  const content = { type: 'file_changes', source: 'tool', files: [], ...(uncovered.length > 0 ? { uncovered } : {}) } as const;
  return [{ ...noted({ ...content, files: [] }), ...(held.length > 0 ? { edits: held } : {}) }];
}

/** Tools of other programs that write the file which their input names. */
const writingTools = new Set(['write_to_file', 'replace_in_file', 'apply_diff', 'insert_content', 'new_rule', 'editor']);

/** Edits of which only the path is known: by the input of the calls. */
export function namedEdits(parts: readonly RecordPart[]): ForeignEdit[] {
  return parts.flatMap(({ content }): ForeignEdit[] => {
    if (content.type !== 'tool_call' || !writingTools.has(content.name) || !isObject(content.input)) return [];
    const { path } = content.input;
    return typeof path === 'string' && path !== '' ? [{ path, before: undefined, after: undefined }] : [];
  });
}

/** What Claude Code notes beside the result of a call that has written a file: all of it before, and what became of it. */
export function claudeCodeEdits(noted: unknown): ForeignEdit[] {
  if (!isObject(noted) || typeof noted['filePath'] !== 'string') return [];
  const before = textOrNull(noted['originalFile'] ?? noted['originalFileContents'], noted['type'] === 'create');
  const path = noted['filePath'];
  if (typeof noted['content'] === 'string' && (noted['type'] === 'create' || noted['type'] === 'update'))
    return [{ path, before, after: noted['content'] }];
  const steps = typeof noted['oldString'] === 'string' ? [noted] : Array.isArray(noted['edits']) ? noted['edits'].filter(isObject) : [];
  if (steps.length === 0) return [];
  return [{ path, before, after: steps.reduce<string | undefined>(replaced, before === null ? '' : before) }];
}

function replaced(text: string | undefined, step: Json): string | undefined {
  const [old, now] = [step['oldString'] ?? step['old_string'], step['newString'] ?? step['new_string']];
  if (text === undefined || typeof old !== 'string' || typeof now !== 'string') return undefined;
  if (old === '') return text === '' ? now : undefined;
  if (!text.includes(old)) return undefined;
  return (step['replaceAll'] ?? step['replace_all']) === true ? text.split(old).join(now) : text.replace(old, () => now);
}

function textOrNull(value: unknown, isNew: boolean): string | null | undefined {
  if (typeof value === 'string') return value;
  return value === null || isNew ? null : undefined;
}

/** Both kinds of separators are understood: a record may come from another system. Null for what lies outside of the folder. */
function placeIn(cwd: string, path: string): { readonly folder: string; readonly path: string } | null {
  const slashed = cwd.replaceAll('\\', '/');
  const root = slashed.endsWith('/') ? slashed.slice(0, -1) : slashed;
  const file = path.replaceAll('\\', '/');
  const isAbsolute = file.startsWith('/') || /^[A-Za-z]:\//.test(file);
  const inside = isAbsolute ? (root !== '' && file.startsWith(`${root}/`) ? file.slice(root.length + 1) : '') : file.replace(/^\.\//, '');
  const names = inside.split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) return null;
  return { folder: root.slice(root.lastIndexOf('/') + 1), path: inside };
}
