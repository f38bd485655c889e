import { ToolFault } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';
import type { Located } from '../guard/located';
import type { Place } from '../guard/workspacePath';

/** Larger files are not read at all. */
const mostFileBytes = 10 * 1024 * 1024;
/** A zero byte this far into a file makes it binary. */
const sniffed = 8_000;

export interface TextFile {
  readonly text: string;
  /** False for text that was not UTF-8, and so cannot be written back as it was. */
  readonly faithful: boolean;
  /** It has changes in an editor that are not on disk. */
  readonly unsaved: boolean;
}

/**
 * The text of a file as the user sees it, its line ends and byte order mark included. Rejects with `ToolFault` for anything that is no
 * readable text.
 */
export async function readTextFile(workspace: ToolWorkspace, { place, name }: Located): Promise<TextFile> {
  const unsaved = workspace.unsaved(place);
  if (unsaved !== undefined) return { text: unsaved, faithful: true, unsaved: true };
  const stat = await workspace.stat(place);
  if (!stat) throw new ToolFault(`There is no file ${name}.`);
  if (stat.kind === 'folder') throw new ToolFault(`${name} is a folder. list_folder shows what is in it.`);
  if (stat.kind !== 'file') throw new ToolFault(`${name} is no regular file.`);
  if (stat.bytes > mostFileBytes)
    throw new ToolFault(
      `${name} has ${megabytes(stat.bytes)} MB; files above ${megabytes(mostFileBytes)} MB are not read. A command can look into it (head, grep).`,
    );
  return decode(await workspace.read(place), name);
}

export function decode(bytes: Uint8Array, name: string): TextFile {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
  if (encoding) return { text: new TextDecoder(encoding).decode(bytes), faithful: false, unsaved: false };
  if (bytes.subarray(0, sniffed).includes(0))
    throw new ToolFault(`${name} is a binary file of ${bytes.length.toLocaleString('en')} bytes. Its content is not shown.`);
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), faithful: true, unsaved: false };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), faithful: false, unsaved: false };
  }
}

function megabytes(bytes: number): string {
  return (bytes / (1024 * 1024)).toFixed(bytes < 10 * 1024 * 1024 ? 1 : 0);
}

/** A page has at most so many characters, about 10,000 tokens, and of one line at most so many. */
const pageCharacters = 40_000;
export const lineCharacters = 2_000;

interface TextPage {
  /** `number TAB line`; numbers set flush right took a twelfth of what files take in a prompt. */
  readonly text: string;
  /** Both from 1; `last` is 0 for an empty text. */
  readonly first: number;
  readonly last: number;
  readonly total: number;
  readonly cutLines: readonly number[];
}

/** Numbered lines from `start` on, as many as fit and are wanted. Undefined when there is no such line. */
export function pageText(text: string, start = 1, count = Infinity): TextPage | undefined {
  const lines = linesOf(text);
  if (start < 1 || start > Math.max(1, lines.length)) return undefined;
  const shown: string[] = [];
  const cutLines: number[] = [];
  let characters = 0;
  for (let i = start - 1; i < lines.length && shown.length < count; i++) {
    const line = lines[i]!;
    const cut = line.length > lineCharacters;
    const numbered = `${i + 1}\t${cut ? `${line.slice(0, lineCharacters)}…` : line}`;
    characters += numbered.length + 1;
    if (characters > pageCharacters && shown.length > 0) break;
    if (cut) cutLines.push(i + 1);
    shown.push(numbered);
  }
  return { text: shown.join('\n'), first: start, last: start - 1 + shown.length, total: lines.length, cutLines };
}

/** Lines come without their ends; a final line break begins no further line. */
export function linesOf(text: string): string[] {
  if (text === '') return [];
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** What the model knows of files: as it last read or wrote them in this conversation, since it was opened. */
export class SeenFiles {
  private readonly marks = new Map<string, string>();

  note(place: Place, text: string): void {
    this.marks.set(keyOf(place), markOf(text));
  }

  /** True when the model has seen another text than this one; false also when it has seen none. */
  hasChanged(place: Place, text: string): boolean {
    const mark = this.marks.get(keyOf(place));
    return mark !== undefined && mark !== markOf(text);
  }
}

function keyOf({ folder, path }: Place): string {
  return `${folder}/${path}`;
}

/** Length and two 32-bit hashes (FNV-1a with different seeds): enough to tell versions of a file apart. */
function markOf(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return `${text.length}.${a >>> 0}.${b >>> 0}`;
}
