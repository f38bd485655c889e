import { stat } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { NoteChangedError } from '../../core/errors';
import { english } from '../../core/l10n';
import type { MemoryNotes } from '../../core/ports';
import type { SyncStore } from '../../core/sync/syncStore';

/** A note whose file could not be given what the devices' revisions come to: it stays in the store, and is tried again. */
export interface NoteProblem {
  readonly path: string;
  readonly detail: string;
}

/**
 * The notes of a folder as synchronizing sees them. People edit the files with whatever they like, so nothing tells of a change: what a
 * file has now is compared with what it had when it was last looked at. It may end anywhere; the next time goes on.
 */
export class NoteFiles {
  constructor(
    private readonly store: SyncStore,
    private readonly notes: MemoryNotes,
    private readonly folder: string,
  ) {}

  /** What was written or deleted since becomes revisions. */
  async collect(): Promise<void> {
    const known = new Map((await this.store.syncNotes()).map((note) => [note.path, note]));
    const files = await this.notes.list();
    for (const { path } of files) {
      const text = await this.notes.read(path).catch(() => undefined);
      if (text !== undefined && digestOf(text) !== known.get(path)?.fileDigest) await this.store.syncNoteWritten(path, text);
    }
    // A folder that is not there is one that was moved or is not mounted: its notes come back, rather than go everywhere.
    if (!(await stat(this.folder).catch(() => undefined))?.isDirectory()) return this.forgetFiles([...known.keys()]);
    const there = new Set(files.map(({ path }) => folded(path)));
    for (const { path, fileDigest } of known.values())
      if (fileDigest !== '' && !there.has(folded(path)) && (await this.read(path)) === undefined)
        await this.store.syncNoteWritten(path, null);
  }

  /** Files get what the revisions of all devices come to, unless somebody has changed one since `collect`. */
  async apply(): Promise<readonly NoteProblem[]> {
    const problems: NoteProblem[] = [];
    for (const { path, digest, fileDigest } of await this.store.syncNotes()) {
      if (digest === fileDigest) continue;
      try {
        if (await this.isOtherCase(path)) throw new Error(english('A note is there whose name differs in upper and lower case only.'));
        const now = await this.read(path);
        if (now === null || digestOf(now) !== fileDigest) continue;
        const text = await this.store.syncNoteText(path);
        if (digestOf(text ?? undefined) !== digest) continue;
        await this.store.syncNoteFile(path, digest, 'next');
        if (text !== null) await this.notes.write(path, text, now ?? null);
        else if (now !== undefined) await this.notes.delete(path, now);
        await this.store.syncNoteFile(path, digest, 'written');
      } catch (error) {
        if (error instanceof NoteChangedError) continue;
        problems.push({ path, detail: (error as Error).message });
      }
    }
    return problems;
  }

  private async forgetFiles(paths: readonly string[]): Promise<void> {
    for (const path of paths) await this.store.syncNoteFile(path, '', 'gone');
  }

  /** Null: it is there, and no text. */
  private read(path: string): Promise<string | undefined | null> {
    return this.notes.read(path).catch(() => null);
  }

  private async isOtherCase(path: string): Promise<boolean> {
    return (await this.notes.list()).some((note) => note.path !== path && folded(note.path) === folded(path));
  }
}

function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** As `SyncedNote` has it. */
function digestOf(text: string | undefined): string {
  return text === undefined ? '' : createHash('sha256').update(text).digest('hex');
}
