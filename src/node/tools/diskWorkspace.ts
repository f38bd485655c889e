import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as pause } from 'node:timers/promises';
import { ToolFault } from '../../core/tools/tool';
import type { CommandEnd, FileStat, FolderItem, IgnoresAbove, ToolWorkspace } from '../../core/tools/toolWorkspace';
import { distinctNames, placeName, type Place, type WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import type { CommandRunner } from './commandRunner';
import { ignoresAbove } from './ignoresAbove';
import { fileFault, readHeld, replaceHeld, realPlace, type HeldPlaces } from './workspaceFiles';
import { lineMatcher } from './lineMatcher';

/** Folders on this disk, without an editor: for the command line. */
export class DiskWorkspace implements ToolWorkspace {
  readonly folders: readonly WorkspaceFolder[];
  readonly excludes: readonly string[] = ['**/node_modules'];
  readonly lineMatcher = lineMatcher;

  constructor(
    private readonly roots: readonly string[],
    private readonly commands: CommandRunner,
  ) {
    this.folders = distinctNames(roots.map((root) => ({ name: basename(root), root: root.replaceAll('\\', '/') })));
  }

  ignoresAbove(folder: number): Promise<IgnoresAbove | null> {
    const root = this.roots[folder];
    return root === undefined ? Promise.resolve(null) : ignoresAbove(root);
  }

  real(place: Place): Promise<Place | null> {
    return realPlace(place, this.roots);
  }

  async stat(place: Place): Promise<FileStat | null> {
    try {
      const found = await stat(this.file(place));
      return { kind: found.isFile() ? 'file' : found.isDirectory() ? 'folder' : 'other', bytes: found.size, modifiedAt: found.mtimeMs };
    } catch (error) {
      if (isMissing(error)) return null;
      throw this.said(error, place);
    }
  }

  async read(place: Place): Promise<Uint8Array> {
    return readHeld(place, this.places).catch((error: unknown) => Promise.reject(this.said(error, place)));
  }

  async list(place: Place): Promise<readonly FolderItem[]> {
    const items = await readdir(this.file(place), { withFileTypes: true }).catch((error: unknown) =>
      Promise.reject(this.said(error, place)),
    );
    return items.map((item) => ({
      name: item.name,
      kind: item.isSymbolicLink() ? 'link' : item.isDirectory() ? 'folder' : item.isFile() ? 'file' : 'other',
    }));
  }

  readonly pause = pause;

  unsaved(): undefined {
    return undefined;
  }

  async replace(place: Place, before: string | null, after: string): Promise<string> {
    try {
      await replaceHeld(
        place,
        this.places,
        before,
        after,
        new ToolFault(`${this.name(place)} has been changed in the meantime. Nothing was written. Read it again.`),
      );
      return after;
    } catch (error) {
      throw this.said(error, place);
    }
  }

  get withheldVariables(): readonly string[] {
    return this.commands.withheld;
  }

  get runsOneLine(): boolean {
    return this.commands.runsOneLine;
  }

  run(command: string, folder: Place, onOutput: (text: string) => void, signal: AbortSignal): Promise<CommandEnd> {
    return this.commands.run(command, this.file(folder), onOutput, signal);
  }

  private readonly places: HeldPlaces = { file: (place) => this.file(place), real: (place) => this.real(place) };

  private file({ folder, path }: Place): string {
    return join(this.roots[folder]!, ...path.split('/'));
  }

  private name(place: Place): string {
    return placeName(place, this.folders);
  }

  private said(error: unknown, place: Place): unknown {
    return ToolFault.is(error) ? error : new ToolFault(fileFault(error, this.name(place)));
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
