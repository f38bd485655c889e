import { ToolFault } from '../tool';
import type { ToolWorkspace } from '../toolWorkspace';
import type { Located } from '../guard/located';

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

/** The text of a file as the user sees it, its line ends and byte order mark included. Rejects with `ToolFault` for anything that is no readable text. */
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
