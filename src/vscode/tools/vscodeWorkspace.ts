import { setImmediate as pause } from 'node:timers/promises';
import {
  DiagnosticSeverity,
  FilePermission,
  FileSystemError,
  FileType,
  languages,
  Range,
  Uri,
  workspace,
  WorkspaceEdit,
  type TextDocument,
} from 'vscode';
import { changedRange } from '../../core/tools/files/editTools';
import { ToolFault } from '../../core/tools/tool';
import type { CommandEnd, FileStat, FolderItem, IgnoresAbove, Problem, ToolWorkspace } from '../../core/tools/toolWorkspace';
import { placeName, type Place, type WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import type { CommandRunner } from '../../node/tools/commandRunner';
import { ignoresAbove } from '../../node/tools/ignoresAbove';
import { openFolders, placeOf } from './openFolders';
import type { TerminalRunner } from './terminalRunner';
import { fileFault, readHeld, replaceHeld, realPlace, type HeldPlaces } from '../../node/tools/workspaceFiles';
import { lineMatcher } from '../../node/tools/lineMatcher';

/**
 * The folders of the window, through VS Code's file system, so also those that are on another machine or on no disk. Open editors
 * go before what is on disk.
 */
export class VscodeWorkspace implements ToolWorkspace {
  readonly lineMatcher = lineMatcher;
  readonly run: ToolWorkspace['run'];

  constructor(
    private readonly commands: CommandRunner,
    private readonly terminals: Pick<TerminalRunner, 'run'>,
  ) {
    // Nothing runs where there is no disk to run it on.
    const isOnDisk = (workspace.workspaceFolders ?? []).some(({ uri }) => uri.scheme === 'file');
    if (isOnDisk) this.run = (...run) => this.runInFolder(...run);
  }

  get folders(): readonly WorkspaceFolder[] {
    return openFolders();
  }

  get withheldVariables(): readonly string[] {
    return this.commands.withheld;
  }

  get runsOneLine(): boolean {
    return this.commands.runsOneLine;
  }

  get excludes(): readonly string[] {
    return ['files', 'search'].flatMap((section) => {
      const patterns = workspace.getConfiguration(section).get<Record<string, unknown>>('exclude') ?? {};
      return Object.entries(patterns).flatMap(([pattern, on]) => (on === true ? [pattern] : []));
    });
  }

  ignoresAbove(folder: number): Promise<IgnoresAbove | null> {
    const uri = workspace.workspaceFolders?.[folder]?.uri;
    return uri?.scheme === 'file' ? ignoresAbove(uri.fsPath) : Promise.resolve(null);
  }

  async real(place: Place): Promise<Place | null> {
    if (isAllOnDisk())
      return realPlace(
        place,
        (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath),
      );
    // Such a file system cannot say where a link leads: none is followed.
    const names = place.path.split('/').filter((name) => name !== '');
    for (let depth = 1; depth <= names.length; depth++) {
      const type = await typeOf(this.uri({ folder: place.folder, path: names.slice(0, depth).join('/') }));
      if (type === null) break;
      if ((type & FileType.SymbolicLink) !== 0) return null;
    }
    return place;
  }

  async stat(place: Place): Promise<FileStat | null> {
    try {
      const { type, size, mtime } = await workspace.fs.stat(this.uri(place));
      return {
        kind: (type & FileType.Directory) !== 0 ? 'folder' : (type & FileType.File) !== 0 ? 'file' : 'other',
        bytes: size,
        modifiedAt: mtime,
      };
    } catch (error) {
      if (error instanceof FileSystemError && error.code === 'FileNotFound') return null;
      throw this.said(error, place);
    }
  }

  async read(place: Place): Promise<Uint8Array> {
    try {
      return isAllOnDisk() ? await readHeld(place, this.places) : await workspace.fs.readFile(this.uri(place));
    } catch (error) {
      throw this.said(error, place);
    }
  }

  async list(place: Place): Promise<readonly FolderItem[]> {
    try {
      return (await workspace.fs.readDirectory(this.uri(place))).map(([name, type]) => ({ name, kind: kindOf(type) }));
    } catch (error) {
      throw this.said(error, place);
    }
  }

  readonly pause = pause;

  unsaved(place: Place): string | undefined {
    const document = this.document(place);
    return document?.isDirty ? document.getText() : undefined;
  }

  async replace(place: Place, before: string | null, after: string): Promise<string> {
    const uri = this.uri(place);
    const changed = new ToolFault(`${this.name(place)} has been changed in the meantime. Nothing was written. Read it again.`);
    try {
      if (before === null) {
        if ((await this.stat(place)) !== null) throw changed;
        await this.write(place, null, after, changed);
        return after;
      }
      if (this.unsaved(place) !== undefined || decode(await this.read(place)) !== before) throw changed;
      const { permissions = 0 } = await workspace.fs.stat(uri);
      if ((permissions & FilePermission.Readonly) !== 0) throw new ToolFault(`${this.name(place)} is read-only. Nothing was changed.`);
      const document = this.document(place);
      // An editor shows mixed line ends as one kind: such a file is written as it stands, and its editor reads it again.
      if (document && document.getText() === withoutMark(before)) return await this.replaceInEditor(document, withoutMark(after));
      await this.write(place, before, after, changed);
      return after;
    } catch (error) {
      throw this.said(error, place);
    }
  }

  problems(place: Place | null): readonly Problem[] {
    const named = place ? [[this.uri(place), languages.getDiagnostics(this.uri(place))] as const] : languages.getDiagnostics();
    return named.flatMap(([uri, all]) => {
      const at = placeOf(uri);
      if (!at) return [];
      return all.map(({ message, range, severity, source }) => ({
        place: at,
        line: range.start.line + 1,
        severity: severities[severity],
        text: source ? `${message} [${source}]` : message,
      }));
    });
  }

  /** In the editor, so that the user can take it back there; saved, so that disk and editor say the same. */
  private async replaceInEditor(document: TextDocument, after: string): Promise<string> {
    const before = document.getText();
    const { start, end } = changedRange(before, after);
    const edit = new WorkspaceEdit();
    edit.replace(
      document.uri,
      new Range(document.positionAt(start), document.positionAt(before.length - end)),
      after.slice(start, after.length - end),
    );
    if (!(await workspace.applyEdit(edit))) throw new ToolFault('The editor did not take the change. Nothing was written.');
    if (!(await document.save())) throw new ToolFault('The change is in the editor, but could not be saved. The user has to save it.');
    return decode(await workspace.fs.readFile(document.uri));
  }

  private write(place: Place, before: string | null, after: string, changed: Error): Thenable<void> {
    return isAllOnDisk()
      ? replaceHeld(place, this.places, before, after, changed)
      : workspace.fs.writeFile(this.uri(place), new TextEncoder().encode(after));
  }

  private readonly places: HeldPlaces = { file: (place) => this.uri(place).fsPath, real: (place) => this.real(place) };

  private async runInFolder(
    command: string,
    folder: Place,
    onOutput: (text: string) => void,
    signal: AbortSignal,
    call?: string,
  ): Promise<CommandEnd> {
    const uri = this.uri(folder);
    if (uri.scheme !== 'file') throw new ToolFault('This folder is on no disk: nothing can be run in it.');
    return (
      (await this.terminals.run(command, uri.fsPath, onOutput, signal, call)) ?? this.commands.run(command, uri.fsPath, onOutput, signal)
    );
  }

  private uri({ folder, path }: Place): Uri {
    const root = workspace.workspaceFolders?.[folder];
    if (!root) throw new ToolFault('This folder is not part of the workspace any more.');
    return path === '' ? root.uri : Uri.joinPath(root.uri, ...path.split('/'));
  }

  private document(place: Place): TextDocument | undefined {
    const text = this.uri(place).toString();
    return workspace.textDocuments.find((document) => !document.isClosed && document.uri.toString() === text);
  }

  private name(place: Place): string {
    return placeName(place, this.folders);
  }

  private said(error: unknown, place: Place): unknown {
    if (ToolFault.is(error)) return error;
    const name = this.name(place);
    if (!(error instanceof FileSystemError)) return new ToolFault(fileFault(error, name));
    const texts: Readonly<Record<string, string>> = {
      FileNotFound: `There is no ${name}.`,
      FileNotADirectory: `A part of the path ${name} is a file, not a folder.`,
      FileIsADirectory: `${name} is a folder.`,
      FileExists: `${name} exists already.`,
      NoPermissions: `${name} is read-only or not accessible. Nothing was changed.`,
      Unavailable: `${name} cannot be reached at the moment.`,
    };
    return new ToolFault(
      texts[error.code] ??
        (/EACCES|EPERM|EROFS|permission|read-?only/i.test(error.message) ? texts['NoPermissions']! : `${name}: ${error.message}`),
    );
  }
}

const severities: Readonly<Record<DiagnosticSeverity, Problem['severity']>> = {
  [DiagnosticSeverity.Error]: 'error',
  [DiagnosticSeverity.Warning]: 'warning',
  [DiagnosticSeverity.Information]: 'information',
  [DiagnosticSeverity.Hint]: 'hint',
};

function kindOf(type: FileType): FolderItem['kind'] {
  if ((type & FileType.SymbolicLink) !== 0) return 'link';
  return type === FileType.Directory ? 'folder' : type === FileType.File ? 'file' : 'other';
}

/** What can be held open while it is checked; other file systems have paths only. */
function isAllOnDisk(): boolean {
  return (workspace.workspaceFolders ?? []).every(({ uri }) => uri.scheme === 'file');
}

async function typeOf(uri: Uri): Promise<FileType | null> {
  try {
    return (await workspace.fs.stat(uri)).type;
  } catch {
    return null;
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** The byte order mark stays: what is written has to be what was read. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
