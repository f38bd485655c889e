import { t } from '../../l10n';
import * as z from 'zod/mini';
import { createFileName, editFileName } from './callChange';
import type { EditGuard } from '../guard/guardedKinds';
import { assertAsked, locate, writeQuestion, type Located } from '../guard/located';
import { readTextFile, type SeenFiles } from './textFile';
import { ToolFault, toolInput, type ApprovalQuestion, type FileChange, type Tool, type ToolRun } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';

const Edit = z.object({ path: z.string(), old_text: z.string(), new_text: z.string(), replace_all: z.optional(z.boolean()) });
const Create = z.object({ path: z.string(), content: z.string(), overwrite: z.optional(z.boolean()) });

interface Planned {
  readonly located: Located;
  readonly change: FileChange;
  readonly said: string;
}

export function createEditFileTool(workspace: ToolWorkspace, seen: SeenFiles, guard: EditGuard): Tool {
  const plan = async (value: unknown): Promise<Planned> => {
    const { path, old_text: before, new_text: after, replace_all: all } = toolInput(Edit, value);
    const located = await locate(workspace, path);
    const text = await editable(workspace, located, seen);
    const edited = editText(text, before, after, all);
    const said = `${located.name}: changed at line ${edited.lines.slice(0, 20).join(', ')}.`;
    return { located, change: { path: located.name, before: text, after: edited.text }, said };
  };
  const question = ({ located, change }: Planned) => writeQuestion(t('Edit {0}', located.shown), located, guard, change);
  return {
    name: editFileName,
    description:
      'Change a text file of the workspace: replaces a passage that stands exactly once in it. The user sees the difference and decides.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        old_text: {
          type: 'string',
          description: 'The passage as it stands in the file, with enough around it to stand there once; no line numbers.',
        },
        new_text: { type: 'string', description: 'What it becomes; empty removes it.' },
        replace_all: { type: 'boolean', description: 'Replace it wherever it stands.' },
      },
      required: ['path', 'old_text', 'new_text'],
      additionalProperties: false,
    },
    access: 'write',
    needsApproval: async (value) => question(await plan(value)),
    async run(value, _signal, run) {
      const planned = await plan(value);
      return apply(workspace, seen, planned, question(planned), run);
    },
  };
}

export function createCreateFileTool(workspace: ToolWorkspace, seen: SeenFiles, guard: EditGuard): Tool {
  const plan = async (value: unknown): Promise<Planned> => {
    const { path, content, overwrite = false } = toolInput(Create, value);
    const located = await locate(workspace, path);
    const exists = (await workspace.stat(located.place)) !== null || workspace.unsaved(located.place) !== undefined;
    if (!exists)
      return { located, change: { path: located.name, before: null, after: content }, said: `${located.name} has been created.` };
    if (!overwrite)
      throw new ToolFault(`${located.name} exists already. Change it with edit_file, or give "overwrite": true to replace all of it.`);
    const before = await editable(workspace, located, seen);
    // Models send no byte order mark, and some programs do not read a file rightly that has lost its own.
    const mark = before.startsWith('\ufeff') && !content.startsWith('\ufeff') ? '\ufeff' : '';
    return {
      located,
      change: { path: located.name, before, after: mark + withEnds(content, lineEnds(before)) },
      said: `${located.name} has been replaced.`,
    };
  };
  const question = ({ located, change }: Planned) =>
    writeQuestion(change.before === null ? t('Create {0}', located.shown) : t('Replace all of {0}', located.shown), located, guard, change);
  return {
    name: createFileName,
    description: 'Create a text file in the workspace, with the folders it needs. The user sees it and decides.',
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        content: { type: 'string' },
        overwrite: { type: 'boolean', description: 'Replace all of a file that exists.' },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    access: 'write',
    needsApproval: async (value) => question(await plan(value)),
    async run(value, _signal, run) {
      const planned = await plan(value);
      return apply(workspace, seen, planned, question(planned), run);
    },
  };
}

/** Writes what the user has seen, where they have seen it, and nothing else. */
async function apply(
  workspace: ToolWorkspace,
  seen: SeenFiles,
  { located, change, said }: Planned,
  now: ApprovalQuestion,
  run: ToolRun | undefined,
) {
  const shown = run?.approved?.change;
  if (shown && (shown.before !== change.before || shown.after !== change.after)) {
    throw new ToolFault(`${located.name} was changed while the user was looking at the difference. Nothing was written. Read it again.`);
  }
  assertAsked(now, run?.approved);
  seen.note(located.place, await workspace.replace(located.place, change.before, change.after));
  return { text: said, status: 'ok' as const };
}

async function editable(workspace: ToolWorkspace, located: Located, seen: SeenFiles): Promise<string> {
  const { text, faithful, unsaved } = await readTextFile(workspace, located);
  if (unsaved)
    throw new ToolFault(`${located.name} has changes in an editor that the user has not saved. Ask them to save or to revert it first.`);
  if (!faithful)
    throw new ToolFault(`${located.name} is not UTF-8: writing it would damage what cannot be read. Change it with a command.`);
  if (seen.hasChanged(located.place, text))
    throw new ToolFault(
      `${located.name} has been changed since you read it, by the user or a program. Read it again before you change it.`,
    );
  return text;
}

interface EditedText {
  readonly text: string;
  /** Lines, from 1, at which something was replaced. */
  readonly lines: readonly number[];
}

/** Line numbers that a message names at most. */
const mostNamed = 10;

/**
 * Replaces a passage that stands exactly once in the text, or each of them. Everything else stays byte for byte; where the file has
 * CRLF line ends and the model writes LF, the passage is found all the same and its replacement gets CRLF. Throws `ToolFault`.
 */
export function editText(text: string, before: string, after: string, all = false): EditedText {
  if (before === '') throw new ToolFault('old_text is empty. Give the passage that is to be replaced, or use create_file.');
  if (before === after) throw new ToolFault('old_text and new_text are the same: there is nothing to change.');
  const ends = lineEnds(text);
  // A passage that stands there as it is gets them, too: the line feed that it begins with may be the second half of a line end.
  const wanted = withEnds(before, ends);
  const replacement = withEnds(after, ends);
  const at = positions(text, wanted);
  if (at.length === 0)
    throw new ToolFault(
      'old_text does not stand in the file. Read the file again, and copy the passage with its blanks and without the line numbers.',
    );
  const lines = at.map((position) => text.slice(0, position).split('\n').length);
  if (at.length > 1 && !all) {
    throw new ToolFault(
      `old_text stands ${at.length} times in the file (lines ${lines.slice(0, mostNamed).join(', ')}). Give more of what is around it, or replace_all.`,
    );
  }
  return { text: text.split(wanted).join(replacement), lines };
}

/** The text with the line ends that the file has; as it stands where the file has none, or both kinds. */
function withEnds(text: string, ends: '\n' | '\r\n' | null): string {
  return ends === null ? text : text.replace(/\r?\n/g, ends);
}

/** Null: none, or mixed. */
function lineEnds(text: string): '\n' | '\r\n' | null {
  const crlf = text.includes('\r\n');
  const lf = /(?<!\r)\n/.test(text);
  return crlf === lf ? null : crlf ? '\r\n' : '\n';
}

function positions(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found.push(at);
  return found;
}

/**
 * How many characters two texts share at their beginning (`start`) and at their end (`end`), in whole lines: what lies between is the
 * smallest run of lines in which they differ.
 */
export function changedRange(a: string, b: string): { readonly start: number; readonly end: number } {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[same] === b[same]) same++;
  const start = a.slice(0, same).lastIndexOf('\n') + 1;
  let back = 0;
  while (back < most - start && a[a.length - 1 - back] === b[b.length - 1 - back]) back++;
  const startsLine = (text: string) => back === text.length || text[text.length - 1 - back] === '\n';
  if (startsLine(a) && startsLine(b)) return { start, end: back };
  const line = a.slice(a.length - back).indexOf('\n');
  return { start, end: line < 0 ? 0 : back - line - 1 };
}
