import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import type { DatabaseMark } from '../foreign/databaseKinds';
import { patientRename } from '../../runtime/patientRename';

/** How a source stood when all of it was stored. */
export interface Remembered {
  readonly stamp: string;
  readonly identity: string;
  readonly elsewhere: boolean;
  readonly mark: DatabaseMark | null;
}

const Entry = z.object({
  stamp: z.string(),
  identity: z.string(),
  elsewhere: z.boolean(),
  mark: z.nullable(z.object({ rowid: z.number(), stamps: z.record(z.string(), z.string()) })),
});
const File = z.object({ version: z.literal(1), folders: z.string(), sources: z.record(z.string(), Entry) });

const saveAfterMs = 2_000;
/** Marks of larger databases are made again. */
const mostStamps = 20_000;

/**
 * What need not be read again when the window is opened the next time. It is a note: without it everything is read once more, and nothing
 * is taken twice. `folders`: of which sessions are wanted; for others the note says nothing.
 */
export class WatchMemory {
  private readonly sources = new Map<string, Remembered>();
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly file: string,
    private readonly folders: string,
  ) {}

  /** Never rejects. */
  async load(): Promise<void> {
    try {
      const found = File.parse(JSON.parse(await readFile(this.file, 'utf8')));
      for (const [file, { mark, ...rest }] of Object.entries(found.sources)) {
        // A database is about many folders.
        if (found.folders !== this.folders && (rest.elsewhere || mark)) continue;
        this.sources.set(file, { ...rest, mark: mark && { rowid: mark.rowid, stamps: new Map(Object.entries(mark.stamps)) } });
      }
    } catch {
      // There is none, or it cannot be read.
    }
  }

  get(file: string): Remembered | undefined {
    return this.sources.get(file);
  }

  set(file: string, remembered: Remembered): void {
    this.sources.set(file, remembered);
    this.saveLater();
  }

  delete(file: string): void {
    if (this.sources.delete(file)) this.saveLater();
  }

  /** Never rejects. */
  save(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.saving = this.saving.then(() => this.write()).catch(() => undefined);
    return this.saving;
  }

  private saveLater(): void {
    this.timer ??= setTimeout(() => void this.save(), saveAfterMs);
    this.timer.unref();
  }

  private async write(): Promise<void> {
    const sources = Object.fromEntries(
      [...this.sources].map(([file, { mark, ...rest }]) => [
        file,
        { ...rest, mark: mark && mark.stamps.size <= mostStamps ? { rowid: mark.rowid, stamps: Object.fromEntries(mark.stamps) } : null },
      ]),
    );
    const temporary = `${this.file}.${process.pid}.tmp`;
    await mkdir(dirname(this.file), { recursive: true });
    try {
      await writeFile(temporary, JSON.stringify({ version: 1, folders: this.folders, sources }), { mode: 0o600 });
      await patientRename(temporary, this.file);
    } finally {
      await rm(temporary, { force: true });
    }
  }
}
