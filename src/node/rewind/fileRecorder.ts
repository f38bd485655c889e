import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText } from '../../core/errors';
import type { Logger, SessionStore } from '../../core/ports';
import type { CallRecorder } from '../../core/rewind/callRecorder';
import { isSameVersion, type FileEdit, type FileVersion, type RecordedChanges, type Uncovered } from '../../core/rewind/fileChanges';
import { countLines } from '../../core/rewind/mergeText';
import { createFileName, editFileName } from '../../core/tools/files/callChange';
import type { Tool } from '../../core/tools/tool';
import type { ToolWorkspace } from '../../core/tools/toolWorkspace';
import type { Place, WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import { takeSnapshot, type CommandSnapshot } from './gitSnapshots';
import type { FileWrites } from './fileWrites';
import { fileOnDisk, isBehindLink, kindOf, KeptFiles, mostKeptBytes } from './keptFiles';

export interface FileRecorderOptions {
  readonly kept: KeptFiles;
  readonly workspace: ToolWorkspace;
  /** Folder of ours for what Git needs; it may be removed when nothing runs. */
  readonly storage: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Of the user and of all sessions that work in these folders: what others wrote since a call began is not the call's. */
  readonly writes?: FileWrites;
}

/** A recorder over the store of a conversation. */
export function fileRecorder({
  store,
  ...options
}: Omit<FileRecorderOptions, 'kept' | 'storage'> & { readonly store: SessionStore }): FileRecorder {
  return new FileRecorder({ ...options, kept: new KeptFiles(store), storage: join(rewindFolder(store), 'git') });
}

/** Beside the store: what Git needs, and the journal of a restore. */
export function rewindFolder({ status }: Pick<SessionStore, 'status'>): string {
  return join(dirname(status.file), 'rewind');
}

/** Bytes of content that are kept of one call; a formatter over all files is well below it. */
const mostBytesPerCall = 256 * 1024 * 1024;

/** Keeps what the calls of one conversation do to files, before and after. */
export class FileRecorder implements CallRecorder {
  /** The workspace to give to tools: what they write through it is kept. */
  readonly workspace: ToolWorkspace;
  private files: FileEdit[] = [];
  private uncovered: Uncovered[] = [];

  constructor(private readonly options: FileRecorderOptions) {
    this.workspace = recorded(options.workspace, (place, before, after) => this.replaced(place, before, after));
  }

  take(): RecordedChanges {
    const taken = { files: this.files, uncovered: this.uncovered };
    this.files = [];
    this.uncovered = [];
    return taken;
  }

  async around<T>({ name, access }: Pick<Tool, 'name' | 'access'>, run: () => Promise<T>): Promise<T> {
    // What those write they write through the workspace.
    if (access !== 'write' || name === editFileName || name === createFileName) return run();
    const began = Date.now();
    const snapshots = await this.snapshots();
    try {
      return await run();
    } finally {
      for (const { folder, snapshot } of snapshots) await this.compare(folder, snapshot, began);
    }
  }

  /** One for each folder that is on disk. */
  private async snapshots(): Promise<{ readonly folder: number; readonly snapshot: CommandSnapshot }[]> {
    const found: { readonly folder: number; readonly snapshot: CommandSnapshot }[] = [];
    for (const [folder, { root, isOffDisk }] of this.options.workspace.folders.entries()) {
      try {
        const snapshot = isOffDisk ? null : await takeSnapshot(root, this.options.storage);
        if (snapshot) found.push({ folder, snapshot });
        else this.uncovered.push({ path: '', reason: 'no_git' });
      } catch (error) {
        this.options.log.warn('snapshot_failed', { detail: errorText(error) });
        this.uncovered.push({ path: '', reason: 'git_failed' });
      }
    }
    return found;
  }

  private async compare(folder: number, snapshot: CommandSnapshot, began: number): Promise<void> {
    const { name, root } = this.options.workspace.folders[folder]!;
    try {
      const { changed, uncovered, read } = await snapshot.changes();
      this.uncovered.push(...uncovered);
      const before = await read(changed);
      // Asked for behind the look at the disk: what somebody writes during that has been seen there.
      const ofOthers = this.options.writes?.ofOthers(began, this) ?? new Set();
      let bytes = 0;
      // What lies in a folder of the workspace within this one is recorded there.
      const inner = this.options.workspace.folders.flatMap((one) => (!one.isOffDisk && isWithin(one.root, root) ? [one.root] : []));
      for (const one of changed) {
        const { path } = one;
        if (inner.some((folder) => isWithin(`${root}/${path}`, folder))) continue;
        const was = before.get(path);
        if (ofOthers.has(join(root, path))) {
          this.uncovered.push({ path, reason: 'saved_by_user' });
          continue;
        }
        // Another session's command that ends later leaves it to this one. Whose it is nobody can tell of two that run at once.
        this.options.writes?.note(join(root, path), this);
        if (one.before && !was) this.uncovered.push({ path, reason: 'too_large' });
        else if (bytes > mostBytesPerCall) this.uncovered.push({ path, reason: 'too_many' });
        else bytes += await this.changed(name, root, path, was ? { content: was, kind: kindOfMode(one.before!.mode) } : null);
      }
    } catch (error) {
      this.options.log.warn('snapshot_not_compared', { detail: errorText(error) });
      this.uncovered.push({ path: '', reason: 'git_failed' });
    } finally {
      await snapshot.dispose();
    }
  }

  /** Returns the bytes that were looked at. */
  private async changed(folder: string, root: string, path: string, was: Content | null): Promise<number> {
    const file = join(root, path);
    try {
      // The command has put a link in the place of its folder.
      const isGone = await isBehindLink(root, path);
      const size = isGone ? 0 : ((await lstat(file).catch(() => null))?.size ?? 0);
      if (size > mostKeptBytes) {
        this.uncovered.push({ path, reason: 'too_large' });
        return 0;
      }
      const now = isGone ? null : await fileOnDisk(file);
      await this.note(folder, path, was, now);
      return (was?.content.length ?? 0) + (now?.content.length ?? 0);
    } catch (error) {
      this.options.log.warn('change_not_kept', { path, detail: errorText(error) });
      this.uncovered.push({ path, reason: 'unreadable' });
      return 0;
    }
  }

  private async replaced(place: Place, before: string | null, written: () => Promise<string>): Promise<string> {
    const folder = this.options.workspace.folders[place.folder]!;
    const kind = await kindAt(folder, place.path);
    // Kept before anything is written: what follows may be the last that this process does.
    const was = before === null ? null : { content: Buffer.from(before), kind };
    const kept = was && (await this.options.kept.keep(was.content, kind).catch(() => null));
    const after = await written();
    if (!folder.isOffDisk) this.options.writes?.note(join(folder.root, place.path), this);
    try {
      if (was && !kept) throw new Error('not kept');
      const read = Buffer.from(await this.options.workspace.read(place));
      // What the editor says it has saved counts: what stands there otherwise by now is somebody else's.
      const content = read.toString('utf8') === after ? read : Buffer.from(after);
      await this.note(folder.name, place.path, was, { content, kind: was ? kind : await kindAt(folder, place.path) });
    } catch (error) {
      this.options.log.warn('change_not_kept', { path: place.path, detail: errorText(error) });
      this.uncovered.push({ path: place.path, reason: 'unreadable' });
    }
    return after;
  }

  private async note(folder: string, path: string, was: Content | null, now: Content | null): Promise<void> {
    const keep = async (one: Content | null): Promise<FileVersion | null> => one && this.options.kept.keep(one.content, one.kind);
    const [before, after] = [await keep(was), await keep(now)];
    if (isSameVersion(before, after)) return;
    if (before?.blob === null || after?.blob === null) this.uncovered.push({ path, reason: 'too_large' });
    const lines = was?.kind === 'link' || now?.kind === 'link' ? null : countLines(was?.content ?? null, now?.content ?? null);
    this.files.push({ folder, path, before, after, ...(lines ? { lines } : {}) });
  }
}

async function kindAt({ root, isOffDisk }: WorkspaceFolder, path: string): Promise<FileVersion['kind']> {
  const found = isOffDisk ? null : await lstat(join(root, path)).catch(() => null);
  return found ? kindOf(found.mode) : 'file';
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

interface Content {
  readonly content: Buffer;
  readonly kind: FileVersion['kind'];
}

/** The same workspace, with what is written through it seen. */
function recorded(
  workspace: ToolWorkspace,
  replaced: (place: Place, before: string | null, written: () => Promise<string>) => Promise<string>,
): ToolWorkspace {
  return new Proxy(workspace, {
    get(target, name) {
      if (name === 'replace')
        return (place: Place, before: string | null, after: string) => replaced(place, before, () => target.replace(place, before, after));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

function kindOfMode(mode: string): FileVersion['kind'] {
  return mode === '120000' ? 'link' : mode === '100755' ? 'executable' : 'file';
}
