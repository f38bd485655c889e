import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../core/errors';
import { english } from '../../core/l10n';
import type { IdSource, Logger, SessionStore } from '../../core/ports';
import type { FileChanges, FileEdit, FileVersion, Uncovered } from '../../core/rewind/fileChanges';
import { FileHistory, type FileMark, type FileWay } from '../../core/rewind/fileHistory';
import { countLines } from '../../core/rewind/mergeText';
import { planRestore, type CurrentFile, type FilePlan, type RestoreView, type SeenVersion } from '../../core/rewind/planRestore';
import type { NewEntry, StoredEntry } from '../../core/session/entry';
import type { WorkspaceFolder } from '../../core/tools/guard/workspacePath';
import type { FileWrites } from './fileWrites';
import { fileOnDisk, KeptFiles } from './keptFiles';
import { contentHash } from './packedContent';
import { isRestorable } from './restorePath';
import { restoreFiles, RestoreFault, type FileRestore, type RestoreOptions } from './restoreFiles';
import { resumeRestores } from './resumeRestores';

export interface FileRestorerOptions {
  readonly store: Pick<SessionStore, 'fileMarks' | 'entries' | 'session' | 'append' | 'putBlob' | 'blob'>;
  readonly folders: () => readonly WorkspaceFolder[];
  /** Folder of ours for the journal. */
  readonly storage: string;
  /** Whether an editor has changes of this file that are not on disk. */
  readonly isUnsaved?: (path: string) => boolean;
  /** Is told what a restore writes, which is not the doing of a command that runs meanwhile. */
  readonly writes?: Pick<FileWrites, 'note'>;
  readonly ids: IdSource;
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

/** What a restore would do; nothing has been touched. */
export interface RestorePlan {
  readonly session: string;
  readonly files: readonly FilePlan[];
  /** The state that the files have afterwards. */
  readonly to: string | null;
  /** What happened on the way and is not covered. */
  readonly uncovered: readonly Uncovered[];
  /** Some of it stands in a history that was imported: nobody here has seen it before. */
  readonly isImported: boolean;
  /** The restore that this takes back. */
  readonly undoes?: FileMark;
}

/** What a review has left of the files of a turn, and had before. */
export interface ReviewNote {
  /** The message that began the turn. */
  readonly turn: string;
  readonly files: readonly FileEdit[];
  readonly were: readonly FileEdit[];
}

export interface ApplyOptions extends Pick<RestoreOptions, 'signal' | 'onProgress'> {
  /** The user wants these of the files that are asked about as the records say. */
  readonly chosen?: readonly FilePlan[];
  /** The leaf that the conversation goes to with the files, null: before the first message; omitted: it stays where it is. */
  readonly to?: string | null;
  /** What the restore means for reviews of turns. */
  readonly reviews?: readonly ReviewNote[];
}

export interface Restored {
  readonly files: readonly FileEdit[];
  /** What was recorded of it. */
  readonly marks: readonly StoredEntry[];
}

/** Restores the files of a session. Its plans are made without touching anything, and hold until a file changes. */
export class FileRestorer {
  private readonly kept: KeptFiles;
  /** Folders that the records of a session name beside each other: none of these is another one that was renamed. */
  private readonly sideBySide = new Set<string>();

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
    const isImported = await this.isImported([last.uuid]);
    return { session, files: await planRestore(ways, this.view(), signal), to, uncovered: [], isImported, undoes: last };
  }

  /** Takes back what has been done to some files, and nothing else: the state of the others stays. Rejects with `StoreError`. */
  async planWithout(session: string, edits: readonly (readonly FileEdit[])[], signal?: AbortSignal): Promise<RestorePlan> {
    const ways = edits.map((one) => ({
      folder: one[0]!.folder,
      path: one[0]!.path,
      steps: one.map(({ folder, path, before: to, after: from }) => ({ folder, path, from, to })),
    }));
    const to = (await this.history(session)).now;
    const files = await planRestore(ways, this.view(), signal);
    return { session, files, to, uncovered: [], isImported: false };
  }

  /** Content of a version that was recorded; null when it is gone. */
  content(version: FileVersion): Promise<Uint8Array | null> {
    return this.kept.content(version);
  }

  /** What stands at a path now; null: nothing that can be read. */
  async now({ folder, path }: Pick<FileEdit, 'folder' | 'path'>): Promise<SeenVersion | null> {
    return (await this.current(folder, path)).version;
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
   * Carries a plan out and records that, all of it or nothing. What stood there is kept first, so that the restore can be taken back.
   * Returns what has changed. Rejects with `StoreError`, or as `restoreFiles` does.
   */
  async apply(plan: RestorePlan, options: ApplyOptions): Promise<Restored> {
    const { files } = plan;
    const { chosen = [], signal, onProgress } = options;
    const { storage, store, log, writes, ids } = this.options;
    // A restore that is to be taken back still would take this one back later. What it puts back now fails as changed below.
    const { failed } = await resumeRestores(storage, store, log);
    const stuck = failed.find((error) => error instanceof RestoreFault);
    if (stuck) throw stuck;
    const done = files.filter((plan) => plan.action === 'write' || plan.action === 'delete' || chosen.includes(plan));
    const restores: FileRestore[] = [];
    const edits: FileEdit[] = [];
    for (const file of done) {
      signal?.throwIfAborted();
      const { folder, path, from } = file;
      // Somebody may have begun to write in it since the plan was made.
      if (this.options.isUnsaved?.(join(this.root(folder)!, path))) throw new RestoreFault(path, 'changed');
      const { now, then } = await this.sides(file);
      if (from !== null && now === null) throw new RestoreFault(path, 'changed');
      if (file.to !== null && then === null) throw new RestoreFault(path, 'failed', english('its content is not kept any more'));
      restores.push({ root: this.root(folder)!, path, from, to: file.to && { kind: file.to.kind, content: then! } });
      const [before, after] = [await this.keep(now, from), await this.keep(then, file.to)];
      const lines = from?.kind === 'link' || file.to?.kind === 'link' ? null : countLines(now, then);
      edits.push({ folder, path, before, after, ...(lines ? { lines } : {}) });
    }
    const mark = ids.next();
    let marks: readonly StoredEntry[] = [];
    const append = async () => {
      for (const { root, path } of restores) writes?.note(join(root, path), this);
      marks = await this.record(mark, plan, edits, options);
    };
    await restoreFiles(restores, {
      storage,
      record: { mark, append },
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onProgress } : {}),
    });
    return { files: edits, marks };
  }

  /** Records what a review has come to. Rejects with `StoreError`. */
  review(session: string, note: ReviewNote): Promise<StoredEntry[]> {
    return this.options.store.append(session, { entries: [this.reviewMark(session, note)] });
  }

  /** A version with other content, which is kept. Rejects with `StoreError`. */
  version(content: Uint8Array, { kind }: Pick<FileVersion, 'kind'>): Promise<FileVersion> {
    return this.kept.keep(content, kind);
  }

  private async record(
    uuid: string,
    { session, to: restoredTo, undoes }: RestorePlan,
    files: FileEdit[],
    { to, reviews = [] }: ApplyOptions,
  ): Promise<StoredEntry[]> {
    const { store } = this.options;
    const leaf = (await store.session(session))?.leaf ?? null;
    const marks = await store.fileMarks(session);
    const on = leaf ?? marks.at(-1)?.on;
    if (on === undefined) return [];
    const content: FileChanges = {
      type: 'file_changes',
      source: 'restore',
      files,
      restoredTo,
      ...(to !== undefined ? { moved: { from: leaf, to } } : leaf !== null ? { alone: true } : {}),
    };
    const mark = this.mark(session, on, content, uuid);
    // What the restore that is taken back had settled is open again.
    const back = marks
      .filter(({ content }) => undoes !== undefined && content.source === 'review' && content.restore === undoes.uuid)
      .map(({ on: turn, content }): ReviewNote => ({ turn, files: content.were ?? [], were: content.files }));
    const notes = [...back, ...reviews].map((note) => this.reviewMark(session, note, mark.uuid));
    return store.append(session, { entries: [mark, ...notes] });
  }

  private reviewMark(session: string, { turn, files, were }: ReviewNote, restore?: string): NewEntry {
    return this.mark(session, turn, {
      type: 'file_changes',
      source: 'review',
      files: [...files],
      were: [...were],
      ...(restore === undefined ? {} : { restore }),
    });
  }

  private mark(session: string, parent: string, content: FileChanges, uuid = this.options.ids.next()): NewEntry {
    const { now } = this.options;
    return { uuid, session, parent, createdAt: now(), modelFacing: false, display: true, tokenEstimate: null, content };
  }

  private async planTo(session: string, history: FileHistory, to: string | null, signal: AbortSignal | undefined): Promise<RestorePlan> {
    const ways: FileWay[] = history.ways(history.now, to);
    const files = await planRestore(ways, this.view(), signal);
    const isImported = await this.isImported(history.between(history.now, to));
    return { session, files, to, uncovered: history.uncovered(history.now, to), isImported };
  }

  private async isImported(marks: readonly string[]): Promise<boolean> {
    return (await this.options.store.entries(marks)).some(({ sourceId }) => typeof sourceId === 'string');
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
    if (root === null || !isRestorable(path)) return { version: null, obstacle: 'no_folder' };
    const file = join(root, path);
    if (this.options.isUnsaved?.(file)) return { version: null, obstacle: 'unsaved' };
    const names = path.split('/');
    for (let depth = 1; depth < names.length; depth++) {
      const above = names.slice(0, depth);
      const at = join(root, ...above);
      const found = await lstat(at).catch(() => null);
      if (found?.isSymbolicLink()) return { version: null, obstacle: 'linked', link: above.join('/') };
      if (found?.isDirectory() && (await lstat(join(at, '.git')).catch(() => null)))
        return { version: null, obstacle: 'nested_repository' };
    }
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
    const found =
      folders.find(({ name }) => name === folder) ??
      folders.find(({ was }) => was === folder) ??
      (folders.length === 1 && !this.sideBySide.has(folder) ? folders[0] : undefined);
    return found && !found.isOffDisk ? found.root : null;
  }

  private async keep(content: Uint8Array | null, version: Pick<FileVersion, 'kind'> | null): Promise<FileVersion | null> {
    return content && version && this.kept.keep(content, version.kind);
  }

  private async history(session: string): Promise<FileHistory> {
    const marks = await this.options.store.fileMarks(session);
    for (const folder of foldersSideBySide(marks)) this.sideBySide.add(folder);
    return new FileHistory(marks);
  }

  private async entry(uuid: string): Promise<{ readonly uuid: string; readonly seq: number }> {
    const [entry] = await this.options.store.entries([uuid]);
    if (!entry) throw new StoreError('invalid', english('This message is not in the history of this session any more.'));
    return entry;
  }
}

/** A project that was renamed is named by its new name only from then on; of two folders of a workspace, the names take turns. */
function foldersSideBySide(marks: readonly FileMark[]): string[] {
  const spans = new Map<string, { readonly from: number; to: number }>();
  for (const [at, { content }] of marks.entries())
    for (const { folder } of content.files) {
      const span = spans.get(folder);
      if (span) span.to = at;
      else spans.set(folder, { from: at, to: at });
    }
  const all = [...spans];
  return all
    .filter(([name, { from, to }]) => all.some(([other, span]) => other !== name && span.from <= to && from <= span.to))
    .map(([name]) => name);
}
