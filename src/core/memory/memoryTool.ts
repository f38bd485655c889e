import { Serial } from '../base/serial';
import * as z from 'zod/mini';
import { CancelledError, errorText } from '../errors';
import type { MemoryNotes } from '../ports';
import { ToolFault, type ApprovalQuestion, type Tool, type ToolOutcome } from '../tools/tool';
import { DraftNotes, checkNotePath, isInside, memoryRoot, userNotesQuestion, type MemoryWrite } from './notes';

/** The commands and fields of Anthropic's memory tool (`memory_20250818`), so that models find what they were trained on. */
const command = z.discriminatedUnion('command', [
  z.object({ command: z.literal('view'), path: z.optional(z.string()), view_range: z.optional(z.tuple([z.int(), z.int()])) }),
  z.object({ command: z.literal('create'), path: z.string(), file_text: z.string() }),
  z.object({ command: z.literal('str_replace'), path: z.string(), old_str: z.string(), new_str: z.optional(z.string()) }),
  z.object({ command: z.literal('insert'), path: z.string(), insert_line: z.int(), insert_text: z.string() }),
  z.object({ command: z.literal('delete'), path: z.string() }),
  z.object({ command: z.literal('rename'), old_path: z.string(), new_path: z.string() }),
]);
type Command = z.infer<typeof command>;

const inputSchema = {
  type: 'object',
  properties: {
    command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
    path: {
      type: 'string',
      description: `For all but rename: a note, for example ${memoryRoot}/decisions.md; for view and delete also a folder.`,
    },
    view_range: {
      type: 'array',
      items: { type: 'integer' },
      minItems: 2,
      maxItems: 2,
      description: 'view: first and last line, -1 for the end.',
    },
    file_text: { type: 'string', description: 'create: the text of the new note.' },
    old_str: { type: 'string', description: 'str_replace: text that stands exactly once in the note.' },
    new_str: { type: 'string', description: 'str_replace: what replaces it; empty removes it.' },
    insert_line: { type: 'integer', description: 'insert: after this line; 0 is the beginning.' },
    insert_text: { type: 'string', description: 'insert: the lines to insert.' },
    old_path: { type: 'string', description: 'rename: the note or folder.' },
    new_path: { type: 'string', description: 'rename: its new path.' },
  },
  required: ['command'],
  additionalProperties: false,
} as const;

const description =
  `Your notes: small text files under ${memoryRoot} that outlive this conversation and its compaction. ` +
  'Keep decisions with their reasons, preferences, exact names and values, and open work; update a note rather than adding a second one on the same matter. ' +
  'Never keep passwords or keys.';

/** Longer notes are shown in pieces. */
const maxViewCharacters = 16_000;

/** The notebook as a tool. Commands run one after the other, so that two edits of a note cannot undo each other. */
export function createMemoryTool(notes: MemoryNotes, onWrite: (write: MemoryWrite) => void = () => undefined): Tool {
  const serial = new Serial();
  return {
    name: 'memory',
    description,
    inputSchema,
    access: 'notes',
    async needsApproval(value) {
      await serial.idle();
      const parsed = command.safeParse(value);
      if (!parsed.success) throw new ToolFault(failed(notValid(parsed.error)).text);
      try {
        return await questionOf(notes, parsed.data);
      } catch (error) {
        throw new ToolFault(failed(errorText(error)).text);
      }
    },
    run(value, signal, run) {
      return serial.run(async (): Promise<ToolOutcome> => {
        if (signal.aborted) throw new CancelledError();
        const parsed = command.safeParse(value);
        if (!parsed.success) return failed(notValid(parsed.error));
        try {
          if (run && JSON.stringify(await questionOf(notes, parsed.data)) !== JSON.stringify(run.approved))
            return failed('The notes have changed since the user was asked. Look at them and try again.');
          const written: OnWrite = (write) => {
            run?.onNoteWritten?.({ op: write.op, path: write.path, bytes: write.bytes });
            onWrite(write);
          };
          return { status: 'ok', text: await execute(notes, parsed.data, written) };
        } catch (error) {
          return failed(errorText(error));
        }
      });
    },
  };
}

/**
 * What a call would do to the notes that hold in every workspace. Rejects with an Error for the model to read when it could not be carried
 * out.
 */
async function questionOf(notes: MemoryNotes, input: Command): Promise<ApprovalQuestion | null> {
  if (input.command === 'view') return null;
  const writes: MemoryWrite[] = [];
  await execute(new DraftNotes(notes), input, (write) => writes.push(write));
  return userNotesQuestion(writes);
}

function notValid(error: z.core.$ZodError): string {
  return `The input is not valid: ${z.prettifyError(error)}`;
}

function failed(text: string): ToolOutcome {
  return { status: 'error', text: `Error: ${text}` };
}

function execute(notes: MemoryNotes, input: Command, onWrite: (write: MemoryWrite) => void): Promise<string> {
  switch (input.command) {
    case 'view':
      return view(notes, input.path ?? memoryRoot, input.view_range);
    case 'create':
      return create(notes, input, onWrite);
    case 'str_replace':
      return replace(notes, input, onWrite);
    case 'insert':
      return insert(notes, input, onWrite);
    case 'delete':
      return remove(notes, input.path, onWrite);
    case 'rename':
      return rename(notes, input, onWrite);
  }
}

type Input<C extends Command['command']> = Extract<Command, { command: C }>;
type OnWrite = (write: MemoryWrite) => void;

async function view(notes: MemoryNotes, given: string, range: readonly [number, number] | undefined): Promise<string> {
  const path = checkNotePath(given, 'file or folder');
  const text = path === '' ? undefined : await notes.read(path);
  if (text === undefined) {
    const inside = (await notes.list()).filter((note) => path === '' || isInside(note.path, path));
    if (inside.length === 0 && path !== '') throw new Error(`The path ${shown(path)} does not exist.`);
    const list = inside.sort((a, b) => (a.path < b.path ? -1 : 1)).map((note) => `${note.bytes} bytes\t${shown(note.path)}`);
    return [`The notes in ${shown(path)}:`, ...(list.length === 0 ? ['(none yet)'] : list)].join('\n');
  }
  const lines = text.split('\n');
  const [first, end] = range ?? [1, -1];
  const until = end === -1 ? lines.length : end;
  if (first < 1 || first > lines.length || until < first) {
    throw new Error(`Invalid \`view_range\`: [${first}, ${end}]. ${shown(path)} has the lines 1 to ${lines.length}.`);
  }
  const numbered: string[] = [];
  let characters = 0;
  for (let i = first; i <= Math.min(until, lines.length); i++) {
    const line = `${String(i).padStart(6)}\t${lines[i - 1] ?? ''}`;
    characters += line.length + 1;
    if (characters > maxViewCharacters && numbered.length > 0) {
      numbered.push(`… the rest with "view_range": [${i}, -1]`);
      break;
    }
    numbered.push(line.slice(0, maxViewCharacters));
  }
  return [`Here's the content of ${shown(path)} with line numbers:`, ...numbered].join('\n');
}

async function create(notes: MemoryNotes, { path: given, file_text }: Input<'create'>, onWrite: OnWrite): Promise<string> {
  const path = checkNotePath(given, 'file');
  await expectFree(notes, path);
  await notes.write(path, file_text, null);
  onWrite({ op: 'create', path, bytes: bytesOf(file_text), before: null, after: file_text });
  return `File created successfully at: ${shown(path)}`;
}

async function replace(
  notes: MemoryNotes,
  { path: given, old_str, new_str = '' }: Input<'str_replace'>,
  onWrite: OnWrite,
): Promise<string> {
  const { path, text } = await existing(notes, given);
  if (old_str === '') throw new Error('`old_str` is empty. Use insert to add text.');
  const at = text.indexOf(old_str);
  if (at < 0)
    throw new Error(`No replacement was performed, old_str ${JSON.stringify(old_str)} did not appear verbatim in ${shown(path)}.`);
  if (text.indexOf(old_str, at + 1) >= 0) {
    const lines = occurrences(text, old_str).map((position) => text.slice(0, position).split('\n').length);
    throw new Error(
      `No replacement was performed. old_str stands more than once in ${shown(path)}, on lines ${[...new Set(lines)].join(', ')}. Make it unique.`,
    );
  }
  const after = text.slice(0, at) + new_str + text.slice(at + old_str.length);
  await notes.write(path, after, text);
  onWrite({ op: 'str_replace', path, bytes: bytesOf(after), before: text, after });
  return `The memory file ${shown(path)} has been edited.`;
}

async function insert(notes: MemoryNotes, { path: given, insert_line, insert_text }: Input<'insert'>, onWrite: OnWrite): Promise<string> {
  const { path, text } = await existing(notes, given);
  // A final line break ends the last line; it does not begin another.
  const endsWithBreak = text === '' || text.endsWith('\n');
  const lines = text === '' ? [] : (endsWithBreak ? text.slice(0, -1) : text).split('\n');
  if (insert_line < 0 || insert_line > lines.length) {
    throw new Error(`Invalid \`insert_line\`: ${insert_line}. It must be within the lines of the note: [0, ${lines.length}].`);
  }
  const inserted = [...lines.slice(0, insert_line), insert_text.replace(/\n$/, ''), ...lines.slice(insert_line)];
  const after = inserted.join('\n') + (endsWithBreak ? '\n' : '');
  await notes.write(path, after, text);
  onWrite({ op: 'insert', path, bytes: bytesOf(after), before: text, after });
  return `The memory file ${shown(path)} has been edited.`;
}

async function remove(notes: MemoryNotes, given: string, onWrite: OnWrite): Promise<string> {
  const path = checkNotePath(given, 'file');
  const targets = await notesAt(notes, path);
  for (const target of targets) {
    const before = await notes.read(target);
    await notes.delete(target, before);
    onWrite({ op: 'delete', path: target, bytes: 0, before: before ?? null, after: null });
  }
  return targets.length === 1 && targets[0] === path
    ? `Successfully deleted ${shown(path)}`
    : `Successfully deleted ${shown(path)} with ${targets.length} notes`;
}

async function rename(notes: MemoryNotes, { old_path, new_path }: Input<'rename'>, onWrite: OnWrite): Promise<string> {
  const from = checkNotePath(old_path, 'file');
  const to = checkNotePath(new_path, 'file');
  if (isInside(to, from)) throw new Error(`${shown(from)} cannot be moved into itself.`);
  const targets = await notesAt(notes, from);
  await expectFree(notes, to, from);
  for (const target of targets) {
    const moved = to + target.slice(from.length);
    await notes.rename(target, moved);
    const text = (await notes.read(moved)) ?? null;
    onWrite({ op: 'rename', path: moved, from: target, bytes: text === null ? 0 : bytesOf(text), before: text, after: text });
  }
  return `Successfully renamed ${shown(from)} to ${shown(to)}`;
}

async function existing(notes: MemoryNotes, given: string): Promise<{ path: string; text: string }> {
  const path = checkNotePath(given, 'file');
  const text = await notes.read(path);
  if (text === undefined) throw new Error(`The path ${shown(path)} does not exist.`);
  return { path, text };
}

/** The note itself, or all notes in the folder of that name. */
async function notesAt(notes: MemoryNotes, path: string): Promise<string[]> {
  const paths = (await notes.list()).map((note) => note.path);
  const found = paths.filter((one) => one === path || isInside(one, path));
  if (found.length === 0) throw new Error(`The path ${shown(path)} does not exist.`);
  return found;
}

/** Some systems tell `A.md` from `a.md` and some do not: both at once would lose one of them on the way. */
async function expectFree(notes: MemoryNotes, path: string, moved?: string): Promise<void> {
  const wanted = path.toLowerCase();
  for (const note of await notes.list()) {
    const there = note.path.toLowerCase();
    if (note.path === moved) continue;
    if (there === wanted)
      throw new Error(`File ${shown(note.path)} already exists. Change it with str_replace or insert, or choose another name.`);
    if (isInside(there, wanted)) throw new Error(`${shown(path)} is a folder.`);
    if (isInside(wanted, there)) throw new Error(`${shown(note.path)} is a note, not a folder.`);
  }
}

function shown(path: string): string {
  return path === '' ? memoryRoot : `${memoryRoot}/${path}`;
}

function occurrences(text: string, part: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(part); at >= 0 && found.length < 10; at = text.indexOf(part, at + 1)) found.push(at);
  return found;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
