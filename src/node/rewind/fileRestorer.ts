import { lstat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { StoreError } from '../../core/errors';
import { english } from '../../core/l10n';
import type { IdSource, SessionStore } from '../../core/ports';
import { fileKey, type FileEdit, type FileVersion, type Uncovered } from '../../core/rewind/fileChanges';
import { FileHistory, type FileMark, type FileWay } from '../../core/rewind/fileHistory';
import { countLines } from '../../core/rewind/mergeText';
import { planRestore, type CurrentFile, type FilePlan, type RestoreView } from '../../core/rewind/planRestore';
import type { WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import { fileOnDisk, KeptFiles } from './keptFiles';
import { contentHash } from './packedContent';
import { restoreFiles, RestoreFault, type FileRestore, type RestoreOptions } from './restoreFiles';

export interface FileRestorerOptions {
  readonly store: Pick<SessionStore, 'fileMarks' | 'entries' | 'session' | 'append' | 'putBlob' | 'blob'>;
  readonly folders: () => readonly WorkspaceFolder[];
  /** Folder of ours for the journal. */
  readonly storage: string;
  /** Whether an editor has changes of this file that are not on disk. */
  readonly isUnsaved?: (path: string) => boolean;
  readonly ids: IdSource;
  readonly now: () => number;
}

/** What a restore would do; nothing has been touched. */
export interface RestorePlan {
  readonly session: string;
  readonly files: readonly FilePlan[];
  /** The state that the files have afterwards. */
  readonly to: string | null;
  /** What happened on the way and is not covered. */
  readonly uncovered: readonly Uncovered[];
}

export interface ApplyOptions extends Pick<RestoreOptions, 'signal' | 'onProgress'> {
  /** The user wants these of the files that are asked about as the records say. */
  readonly chosen?: readonly FilePlan[];
  /** The conversation stays where it is. */
  readonly alone: boolean;
}

/** Restores the files of a session. Its plans are made without touching anything, and hold until a file changes. */
export class FileRestorer {
  private readonly kept: KeptFiles;

  constructor(private readonly options: FileRestorerOptions) {
    this.kept = new KeptFiles(options.store);
  }

  /** Files as they were before something was said. Rejects with `StoreError`. */
  async planBefore(session: string, entry: string, signal?: AbortSignal): Promise<RestorePlan> {
    const history = await this.history(session);
    return this.planTo(session, history, history.before(await this.entry(entry)), signal);
  }

  /** Files as they were when a branch was left. Rejects with `StoreError`. */
  async planEnd(session: string, leaf: string | null, signal?: AbortSignal): Promise<RestorePlan> {
    const history = await this.history(session);
    return this.planTo(session, history, leaf === null ? null : history.atEnd(await this.entry(leaf)), signal);
  }

  /** Takes the last restore back; null when there is none, or a call has changed files since. Rejects with `StoreError`. */
  async planUndo(session: string, signal?: AbortSignal): Promise<RestorePlan | null> {
    const history = await this.history(session);
    const last = history.lastRestore;
    if (!last) return null;
    const { ways, to } = history.undo(last);
    return { session, files: await planRestore(ways, this.view(), signal), to, uncovered: [] };
  }

  /** What the calls behind a message have done, each file once; until the next message, when one is given. Rejects with `StoreError`. */
  async changesOf(session: string, from: string, until: string | null): Promise<FileEdit[]> {
    const [first, last] = [await this.entry(from), until === null ? null : await this.entry(until)];
    const marks = await this.options.store.fileMarks(session);
    return summedEdits(
      marks.filter(({ seq, content }) => content.source === 'tool' && seq > first.seq && (last === null || seq < last.seq)),
    );
  }

  /** Takes back what has been done to some files, and nothing else: the state of the others stays. Rejects with `StoreError`. */
  async planWithout(session: string, edits: readonly FileEdit[], signal?: AbortSignal): Promise<RestorePlan> {
    const ways = edits.map(({ folder, path, before: to, after: from }) => ({ folder, path, steps: [{ folder, path, from, to }] }));
    return { session, files: await planRestore(ways, this.view(), signal), to: (await this.history(session)).now, uncovered: [] };
  }

  /** Content of a version that was recorded; null when it is gone. */
  content(version: FileVersion): Promise<Uint8Array | null> {
    return this.kept.content(version);
  }

  /** Where a file is on this disk; null when its folder is not open. */
  place({ folder, path }: Pick<FileEdit, 'folder' | 'path'>): string | null {
    const root = this.root(folder);
    return root && join(root, path);
  }

  /** What stands there now and what would, for a comparison; null: nothing. */
  async sides({ folder, path, from, to }: FilePlan): Promise<{ readonly now: Uint8Array | null; readonly then: Uint8Array | null }> {
    const now = from && (await this.view().read({ folder, path }, from));
    const then = to && ('merged' in to.content ? to.content.merged : await this.kept.content({ ...to, blob: to.content.blob }));
    return { now, then };
  }

  /**
   * Carries a plan out, all of it or nothing. What stood there is kept first, so that the restore can be taken back. Returns what has
   * changed. Rejects with `RestoreFault`, `StoreError`, or as the signal says, and then no file has changed.
   */
  async apply({ session, files, to }: RestorePlan, { chosen = [], alone, signal, onProgress }: ApplyOptions): Promise<FileEdit[]> {
    const done = files.filter((plan) => plan.action === 'write' || plan.action === 'delete' || chosen.includes(plan));
    const restores: FileRestore[] = [];
    const edits: FileEdit[] = [];
    for (const plan of done) {
      signal?.throwIfAborted();
      const { folder, path, from } = plan;
      const { now, then } = await this.sides(plan);
      if (from !== null && now === null) throw new RestoreFault(path, 'changed');
      if (plan.to !== null && then === null) throw new RestoreFault(path, 'failed', english('its content is not kept any more'));
      restores.push({ root: this.root(folder)!, path, from, to: plan.to && { kind: plan.to.kind, content: then! } });
      const [before, after] = [await this.keep(now, from), await this.keep(then, plan.to)];
      const lines = from?.kind === 'link' || plan.to?.kind === 'link' ? null : countLines(now, then);
      edits.push({ folder, path, before, after, ...(lines ? { lines } : {}) });
    }
    const { storage } = this.options;
    await restoreFiles(restores, { storage, ...(signal ? { signal } : {}), ...(onProgress ? { onProgress } : {}) });
    await this.record(session, edits, to, alone);
    return edits;
  }

  private async record(session: string, files: FileEdit[], restoredTo: string | null, alone: boolean): Promise<void> {
    const { store, ids, now } = this.options;
    const leaf = (await store.session(session))?.leaf ?? null;
    const on = leaf ?? (await store.fileMarks(session)).at(-1)?.on;
    if (on === undefined) return;
    const mark = {
      type: 'file_changes',
      source: 'restore',
      files,
      restoredTo,
      ...(alone && leaf !== null ? { alone: true as const } : {}),
    } as const;
    await store.append(session, {
      entries: [
        { uuid: ids.next(), session, parent: on, createdAt: now(), modelFacing: false, display: true, tokenEstimate: null, content: mark },
      ],
    });
  }

  private async planTo(session: string, history: FileHistory, to: string | null, signal: AbortSignal | undefined): Promise<RestorePlan> {
    const ways: FileWay[] = history.ways(history.now, to);
    return { session, files: await planRestore(ways, this.view(), signal), to, uncovered: history.uncovered(history.now, to) };
  }

  private view(): RestoreView {
    return {
      current: ({ folder, path }) => this.current(folder, path),
      read: async ({ folder, path }, version) => {
        const root = this.root(folder);
        const found = root === null ? null : await fileOnDisk(join(root, path)).catch(() => null);
        return found && contentHash(found.content) === version.hash ? found.content : null;
      },
      kept: (version) => this.kept.content(version),
      hash: contentHash,
    };
  }

  private async current(folder: string, path: string): Promise<CurrentFile> {
    const root = this.root(folder);
    if (root === null) return { version: null, obstacle: 'no_folder' };
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth++) {
      const at = join(root, ...names.slice(0, depth));
      const found = await lstat(at).catch(() => null);
      if (found?.isSymbolicLink()) return { version: null, obstacle: 'linked' };
      if (found?.isDirectory() && (await lstat(join(at, '.git')).catch(() => null)))
        return { version: null, obstacle: 'nested_repository' };
    }
    const file = join(root, path);
    if (this.options.isUnsaved?.(file)) return { version: null, obstacle: 'unsaved' };
    try {
      const found = await lstat(file).catch(() => null);
      if (found && !found.isFile() && !found.isSymbolicLink() && !found.isDirectory()) return { version: null, obstacle: 'no_file' };
      const now = await fileOnDisk(file);
      return { version: now && { hash: contentHash(now.content), bytes: now.content.length, kind: now.kind } };
    } catch {
      return { version: null, obstacle: 'unreadable' };
    }
  }

  /** The folder by its name; the only one whatever it is called now: a project may have been renamed. */
  private root(folder: string): string | null {
    const folders = this.options.folders();
    const found = folders.find(({ name }) => name === folder) ?? (folders.length === 1 ? folders[0] : undefined);
    return found && isAbsolute(found.root) ? found.root : null;
  }

  private async keep(content: Uint8Array | null, version: Pick<FileVersion, 'kind'> | null): Promise<FileVersion | null> {
    return content && version && this.kept.keep(content, version.kind);
  }

  private async history(session: string): Promise<FileHistory> {
    return new FileHistory(await this.options.store.fileMarks(session));
  }

  private async entry(uuid: string): Promise<{ readonly uuid: string; readonly seq: number }> {
    const [entry] = await this.options.store.entries([uuid]);
    if (!entry) throw new StoreError('invalid', english('This message is not in the history of this session any more.'));
    return entry;
  }
}

/** What the calls of a range of marks have done together: each file once, as it was before the first and after the last. */
export function summedEdits(marks: readonly FileMark[]): FileEdit[] {
  const sums = new Map<string, FileEdit>();
  for (const { content } of marks)
    for (const edit of content.files) {
      const known = sums.get(fileKey(edit));
      const lines =
        known?.lines && edit.lines
          ? { added: known.lines.added + edit.lines.added, removed: known.lines.removed + edit.lines.removed }
          : edit.lines;
      sums.set(fileKey(edit), { ...edit, before: known ? known.before : edit.before, ...(lines ? { lines } : {}) });
    }
  return [...sums.values()].filter(({ before, after }) => before?.hash !== after?.hash || before?.kind !== after?.kind);
}
