import type { MemoryNotes } from '../ports';
import { wholeCharacters } from '../context/projection/excerpt';
import { indented } from '../frames/frames';
import type { FileChange, ApprovalQuestion } from '../tools/tool';
import { t } from '../l10n';

type MemoryOperation = 'create' | 'str_replace' | 'insert' | 'delete' | 'rename';

/** One note that changed. Deleting or renaming a folder is one of these per note. */
export interface MemoryWrite {
  readonly op: MemoryOperation;
  /** Where the note is now, or was when it has been deleted. */
  readonly path: string;
  /** Where it was before it was renamed. */
  readonly from?: string;
  /** Size of the note now, in UTF-8. */
  readonly bytes: number;
  readonly before: string | null;
  readonly after: string | null;
}

/** Where notes seem to be for a model: Anthropic's memory tool has its files there. */
export const memoryRoot = '/memories';
/** Below it are the notes that hold in every workspace. */
export const userFolder = 'user/';

const maxSegments = 6;
/** It counts bytes of UTF-8: file systems allow 255, and the name of a draft or backup may be longer. */
const maxSegmentBytes = 200;
const maxLength = 200;
/** Device names of Windows, with whatever extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(?:\.|$)/i;

/**
 * The relative path of a note, as `MemoryNotes` wants it, from what a model or user wrote (with or without `/memories/` in front).
 * Throws an Error for the model to read when the path leaves the notes or is not a valid file name on every system.
 * For 'file or folder' the folder of all notes is ''.
 */
export function checkNotePath(given: string, kind: 'file' | 'file or folder'): string {
  const path = given.trim().normalize('NFC');
  const refuse = (why: string) => new Error(`The path ${JSON.stringify(given.slice(0, 120))} is not allowed: ${why}`);
  if (path.includes('\\')) throw refuse('use "/" between folders.');
  const inside =
    path === memoryRoot
      ? ''
      : path.startsWith(`${memoryRoot}/`)
        ? path.slice(memoryRoot.length + 1)
        : path === '/' || path === '.'
          ? ''
          : path;
  if (inside.startsWith('/') || /^[A-Za-z]:/.test(inside) || inside.startsWith('~'))
    throw refuse(`notes are in ${memoryRoot}; nothing else can be reached.`);
  const relative = inside.replace(/\/$/, '');
  if (relative === '') {
    if (kind === 'file or folder') return '';
    throw refuse('name a note, for example /memories/decisions.md.');
  }
  const segments = relative.split('/');
  if (segments.length > maxSegments || relative.length > maxLength) throw refuse('it is too long.');
  for (const segment of segments) {
    const why = segmentProblem(segment);
    if (why !== null) throw refuse(why);
  }
  return relative;
}

/** Why a file or folder cannot have that name; null when it can. */
function segmentProblem(segment: string): string | null {
  if (segment === '') return 'a folder has no name.';
  if (segment === '..' || segment === '.') return 'it must not contain "." or ".." as a folder.';
  if (segment.startsWith('.')) return 'names must not begin with a dot.';
  if (/[.\s]$/.test(segment) || /^\s/.test(segment)) return 'names must not end with a dot or begin or end with a space.';
  if (/[<>:"|?*\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u.test(segment))
    return 'it contains a character that file names cannot have on every system.';
  if (reserved.test(segment)) return `"${segment}" is a device name on Windows.`;
  if (new TextEncoder().encode(segment).length > maxSegmentBytes) return 'a name is too long.';
  return null;
}

/** The path as it is shown to people; also of one that is not allowed. */
export function noteName(given: string): string {
  return given.startsWith(`${memoryRoot}/`) ? given.slice(memoryRoot.length + 1) : given;
}

/** Whether a path lies somewhere below a folder. */
export function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`);
}

/** Notes in which changes are tried: what is written here reaches nobody. */
export class DraftNotes implements MemoryNotes {
  /** Null: deleted. */
  private readonly changes = new Map<string, string | null>();

  constructor(private readonly notes: MemoryNotes) {}

  async list(): Promise<{ path: string; bytes: number; modifiedAt: number }[]> {
    const kept = (await this.notes.list()).filter(({ path }) => !this.changes.has(path));
    return [...kept, ...[...this.changes].flatMap(([path, text]) => (text === null ? [] : [{ path, bytes: text.length, modifiedAt: 0 }]))];
  }

  async read(path: string): Promise<string | undefined> {
    const changed = this.changes.get(path);
    return changed === undefined ? this.notes.read(path) : (changed ?? undefined);
  }

  async write(path: string, text: string): Promise<void> {
    this.changes.set(path, text);
  }

  async delete(path: string): Promise<void> {
    this.changes.set(path, null);
  }

  async rename(from: string, to: string): Promise<void> {
    const text = await this.read(from);
    if (text === undefined) throw new Error(`${from} does not exist.`);
    this.changes.set(to, text);
    this.changes.set(from, null);
  }
}

/** About 1,000 tokens: the index and the head of the notes; everything else through the tool. */
const maxChars = 4_000;

/** What stands in the context of a new session and after each compaction; null when there are no notes. */
export async function memoryHead(notes: MemoryNotes): Promise<string | null> {
  const files = (await notes.list()).sort((a, b) => b.modifiedAt - a.modifiedAt);
  if (files.length === 0) return null;
  const index = ['Your notes (memory tool):', ...files.slice(0, 40).map(({ path, bytes }) => `- ${path} (${bytes} bytes)`)];
  if (files.length > 40) index.push(`- and ${files.length - 40} more`);
  let text = index.join('\n');
  for (const { path } of files) {
    const room = maxChars - text.length - path.length - 20;
    if (room < 200) break;
    // A picture that somebody has put there, or a text of megabytes: listed, and no reason to answer nothing.
    // No line of a note begins where the name of one does: none passes for another.
    const body = indented((await notes.read(path).catch(() => undefined))?.trim() ?? '');
    if (body) text += `\n\n${path}:\n  ${body.length <= room ? body : `${wholeCharacters(body, 0, room)} […]`}`;
  }
  return text;
}

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
