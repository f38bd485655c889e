import { isObject, type Json } from '../base/json';
import type { EntryContent } from '../session/entry';
import type { TextEdit } from './editRecord';
import { patchEdits } from './patchText';

/** Names under which tools of many programs take the same things. */
const pathNames = [
  'path',
  'file_path',
  'filePath',
  'filepath',
  'target_file',
  'targetFile',
  'absolute_path',
  'filename',
  'fileName',
  'file',
];
const oldNames = ['old_text', 'old_string', 'oldString', 'old_str', 'oldText', 'oldContent', 'old_content', 'search', 'old'];
const newNames = [
  ...['new_text', 'new_string', 'newString', 'new_str', 'newText', 'newContent', 'new_content', 'replace', 'replacement', 'new'],
  ...['insert_text', 'insertText'],
];
const wholeNames = ['content', 'contents', 'file_text', 'fileText', 'text', 'code'];

/** Bounds for what others have written. */
const mostEdits = 500;
const mostDepth = 6;
const mostCharacters = 20_000_000;

/**
 * What a call, or an answer that holds blocks of changes, does to files, as it says itself: told by the shape of its input, since names of
 * tools differ by program and version. Whoever asks compares it with what the file became: what no file has is nobody's edit.
 */
export function editsOf(content: EntryContent): TextEdit[] {
  if (content.type === 'message') return content.role === 'assistant' ? patchEdits(content.text.slice(0, mostCharacters), null) : [];
  if (content.type !== 'tool_call') return [];
  const found: TextEdit[] = [];
  visit(content.input, null, 0, found);
  return found.slice(0, mostEdits);
}

function visit(value: unknown, outer: string | null, depth: number, found: TextEdit[]): void {
  if (depth > mostDepth || found.length >= mostEdits) return;
  if (typeof value === 'string') return void found.push(...patchEdits(value.slice(0, mostCharacters), outer));
  if (Array.isArray(value)) {
    for (const one of value.slice(0, mostEdits)) visit(one, outer, depth + 1, found);
    return;
  }
  if (!isObject(value)) return;
  const path = textOf(value, pathNames) ?? outer;
  const [before, after, whole] = [textOf(value, oldNames), textOf(value, newNames), textOf(value, wholeNames)];
  if (path !== null && after !== undefined) return void found.push({ path, before: before ?? '', after });
  const nested: TextEdit[] = [];
  for (const [name, one] of Object.entries(value).slice(0, mostEdits)) {
    // The content of a file may itself hold a patch, as this program's tests do: it is one only where it begins as one.
    const isContent = path !== null && wholeNames.includes(name) && typeof one === 'string' && !/^(?:<{5,9}|-{5,9}) ?SEARCH\b/.test(one);
    if (!isContent) visit(one, path, depth + 1, nested);
  }
  if (nested.length > 0) found.push(...nested);
  else if (path !== null && whole !== undefined) found.push({ path, before: null, after: whole });
}

function textOf(value: Json, names: readonly string[]): string | undefined {
  for (const name of names) {
    const one = value[name];
    if (typeof one === 'string') return one;
  }
  return undefined;
}
