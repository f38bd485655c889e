import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ToolFault } from '../../core/tools/tool';
import type { CommandEnd, FileStat, FolderItem, ToolWorkspace } from '../../core/tools/toolWorkspace';
import { placeName, type Place, type WorkspaceFolder } from '../../core/tools/workspacePath';
import { lineMatcher } from './lineMatcher';
import { realPlace } from './realPlace';
import { runProcess } from './runProcess';

/** Folders on this disk, without an editor: for the command line. */
export class DiskWorkspace implements ToolWorkspace {
  readonly folders: readonly WorkspaceFolder[];
  readonly excludes: readonly string[] = ['**/node_modules'];
  readonly lineMatcher = lineMatcher;

  constructor(private readonly roots: readonly string[]) {
    this.folders = roots.map((root) => ({ name: basename(root), root: root.replaceAll('\\', '/') }));
  }

  real(place: Place): Promise<Place | null> {
    return realPlace(place, this.roots);
  }

  async stat(place: Place): Promise<FileStat | null> {
    try {
      const found = await stat(this.file(place));
      return { kind: found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other', bytes: found.size };
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.said(error, place);
    }
  }

  async read(place: Place): Promise<Uint8Array> {
    return readFile(this.file(place)).catch((error: unknown) => Promise.reject(this.said(error, place)));
  }

  async list(place: Place): Promise<readonly FolderItem[]> {
    const items = await readdir(this.file(place), { withFileTypes: true }).catch((error: unknown) => Promise.reject(this.said(error, place)));
    return items.map((item) => ({ name: item.name, kind: item.isSymbolicLink() ? 'link' : item.isDirectory() ? 'folder' : item.isFile() ? 'file' : 'other' }));
  }

  unsaved(): undefined {
    return undefined;
  }

  async replace(place: Place, before: string | null, after: string): Promise<string> {
    const file = this.file(place);
    try {
      if (before === null) {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, after, { flag: 'wx' });
        return after;
      }
      if (!(await readFile(file)).equals(Buffer.from(before))) throw new ToolFault(`${this.name(place)} has been changed in the meantime. Nothing was written. Read it again.`);
      await access(file, constants.W_OK);
      await writeFile(file, after);
      return after;
    } catch (error) {
      throw this.said(error, place);
    }
  }

  run(command: string, folder: Place, onOutput: (text: string) => void, signal: AbortSignal): Promise<CommandEnd> {
    return runProcess(command, this.file(folder), onOutput, signal);
  }

  private file({ folder, path }: Place): string {
    return join(this.roots[folder]!, ...path.split('/'));
  }

  private name(place: Place): string {
    return placeName(place, this.folders);
  }

  private said(error: unknown, place: Place): unknown {
    return ToolFault.is(error) ? error : new ToolFault(faultText(error, this.name(place)));
  }
}

/** What went wrong with a file, in words. */
function faultText(error: unknown, name: string): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${name} is read-only or not accessible. Nothing was changed.`;
    case 'EEXIST':
      return `${name} exists already.`;
    case 'ENOENT':
      return `There is no ${name}.`;
    case 'ENOTDIR':
      return `A part of the path ${name} is a file, not a folder.`;
    case 'EISDIR':
      return `${name} is a folder.`;
    case 'ENOSPC':
      return `The disk is full: ${name} was not written completely. Look at it before you go on.`;
    default:
      return `${name}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
