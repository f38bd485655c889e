import type { TextEdit } from './editRecord';

/** Edits that a text holds as a patch of one of the forms in which models write them. `path`: the file it is about, where it names none. */
export function patchEdits(text: string, path: string | null): TextEdit[] {
  if (text.includes('*** Begin Patch')) return applyPatchEdits(text);
  if (searches.test(text)) return searchReplaceEdits(text, path);
  if (/^@@ /m.test(text)) return unifiedEdits(text, path);
  return [];
}

interface Side {
  readonly before: string[];
  readonly after: string[];
}

/** `apply_patch` of Codex and Copilot: sections of files, and in those hunks without line numbers. */
function applyPatchEdits(text: string): TextEdit[] {
  const edits: TextEdit[] = [];
  let path: string | null = null;
  let isNew = false;
  let side: Side = { before: [], after: [] };
  const close = () => {
    if (path !== null && side.after.length > 0)
      edits.push({ path, before: isNew ? '' : side.before.join('\n'), after: side.after.join('\n') });
    side = { before: [], after: [] };
  };
  for (const line of linesOf(text)) {
    const section = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line);
    const moved = /^\*\*\* Move to: (.+)$/.exec(line);
    if (section) {
      close();
      [path, isNew] = [section[1] === 'Delete' ? null : section[2]!.trim(), section[1] === 'Add'];
    } else if (moved) path = moved[1]!.trim();
    else if (line.startsWith('*** End Patch')) {
      close();
      path = null;
    } else if (line.startsWith('@@')) close();
    else if (!line.startsWith('***')) addLine(side, line);
  }
  close();
  return edits;
}

function unifiedEdits(text: string, outer: string | null): TextEdit[] {
  const edits: TextEdit[] = [];
  let path = outer;
  let side: Side | null = null;
  const close = () => {
    if (path !== null && side && side.after.length > 0) edits.push({ path, before: side.before.join('\n'), after: side.after.join('\n') });
    side = null;
  };
  for (const line of linesOf(text)) {
    const named = /^\+\+\+ (?:b\/)?([^\t]+)/.exec(line);
    if (/^(?:diff |--- |index )/.test(line)) close();
    else if (named) {
      close();
      path = named[1] === '/dev/null' ? null : named[1]!.trim();
    } else if (line.startsWith('@@')) {
      close();
      side = { before: [], after: [] };
    } else if (side) addLine(side, line);
  }
  close();
  return edits;
}

function addLine(side: Side, line: string): void {
  if (line.startsWith('+')) side.after.push(line.slice(1));
  else if (line.startsWith('-')) side.before.push(line.slice(1));
  else if (line.startsWith(' ') || line === '') {
    side.before.push(line.slice(1));
    side.after.push(line.slice(1));
  }
}

const searches = /^(?:<{5,9}|-{5,9}) ?SEARCH\b/m;
const divider = /^={5,9}\s*$/;
const replaced = /^(?:>{5,9}|\+{5,9}) ?REPLACE\b/;

/** Blocks of aider, Cline and Roo. Where no file is given, it stands above the block, as aider's do. */
function searchReplaceEdits(text: string, outer: string | null): TextEdit[] {
  const edits: TextEdit[] = [];
  const lines = linesOf(text);
  let path = outer;
  for (let at = 0; at < lines.length; at++) {
    if (!searches.test(lines[at]!)) continue;
    path = outer ?? pathAbove(lines, at) ?? path;
    const middle = lines.findIndex((line, i) => i > at && divider.test(line));
    const end = middle < 0 ? -1 : lines.findIndex((line, i) => i > middle && replaced.test(line));
    if (end < 0) break;
    const before = withoutMarks(lines.slice(at + 1, middle));
    if (path !== null) edits.push({ path, before: before.join('\n'), after: lines.slice(middle + 1, end).join('\n') });
    at = end;
  }
  return edits;
}

/** Roo says above the lines where they stand. */
function withoutMarks(lines: readonly string[]): readonly string[] {
  const rule = lines.slice(0, 4).findIndex((line) => /^-{5,9}\s*$/.test(line));
  return rule >= 0 && lines.slice(0, rule).every((line) => /^:(?:start|end)_line:/.test(line)) ? lines.slice(rule + 1) : lines;
}

function pathAbove(lines: readonly string[], at: number): string | null {
  for (let i = at - 1; i >= Math.max(0, at - 3); i--) {
    const line = lines[i]!.trim();
    if (line === '' || line.startsWith('```')) continue;
    const name = trimmedOf(line, '*#`: ');
    return /^[^\s<>|"?*]+(?:\.\w+|\/[^\s/]+)$/.test(name) || /^[\w.-]+$/.test(name) ? name : null;
  }
  return null;
}

/** Without these signs at either end. */
function trimmedOf(text: string, signs: string): string {
  let [start, end] = [0, text.length];
  while (start < end && signs.includes(text[start]!)) start++;
  while (end > start && signs.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
