import { createHash } from 'node:crypto';
import { watch } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { english } from '../../core/l10n';
import type { SealedRecord, WrappedKey } from '../../core/sync/sealedRecord';
import { EngineError, type EngineFailure, type EngineHead, type LogRange, type SyncEngine } from '../../core/sync/syncEngine';
import { decodeRows, encodeRows } from './rowFile';
import { readWhole, stemOf, writeWhole } from './wholeFiles';

/** Bytes of files that one answer is made of. */
const mostBytes = 4 * 1024 * 1024;

/** Whatever else lies there is none of ours: a record is 256 KB of text and an attachment's piece 1 MB, but one text may be very long. */
const most = { rows: 256 * 1024 * 1024, key: 4 * 1024, version: 1024 };

/** Milliseconds between two looks at the names of the files. */
const pollMs = 30_000;

/** The form of the files; a folder of a newer one is left alone. */
const version = 1;

/**
 * A file smaller than this is merged with its neighbours when there are so many of them: a turn is a file of some 2 KB, and 73,000 files a
 * year are more than folders and carriers like. What was merged stays for a day, so that a carrier which brings removals before files
 * shows nobody a hole.
 */
const merging = { bytes: 256 * 1024, files: 64, stayMs: 86_400_000 };

/** A file of rows of one log. Its name says all that a head needs, so that nothing is read where nothing is new. */
interface RowFile {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Mark of the last row. */
  readonly mark: number;
  readonly digest: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/**
 * A folder that something else carries from machine to machine. A file is written aside, synced and renamed, and never changed; its name
 * has its length and its digest. So no two devices ever write the same file with other bytes, whatever carries them, and one that has
 * arrived in part counts as not there.
 */
export class FolderEngine implements SyncEngine {
  private constructor(
    private readonly root: string,
    /** Names of files that this device has written: they are no news to it. */
    private readonly written = new Set<string>(),
    /** The folder of the history, where these are the logs beside it. */
    private readonly home = root,
  ) {}

  /** Rejects with `no_history` when it is not there and is not to be made. */
  static async open(folder: string, history: string, create: boolean): Promise<FolderEngine> {
    const root = join(folder, `threadkeeper-${history}`);
    return guarded(folder, async () => {
      if (!(await isFolder(folder))) throw new EngineError('unreachable', english('There is no folder {0}', folder));
      if (!create && !(await isHistory(root))) throw noHistory(folder);
      await mkdir(join(root, 'keys'), { recursive: true });
      const form = (await readWhole(join(root, 'version'), most.version).catch(() => undefined))?.toString();
      if (form === undefined && create) await writeWhole(join(root, 'version'), Buffer.from(`${version}\n`));
      if (Number(form ?? version) > version)
        throw new EngineError('version', english('The files in {0} are of a newer version of Threadkeeper: update it', folder));
      return new FolderEngine(root);
    });
  }

  heads(): Promise<readonly EngineHead[]> {
    return guarded(this.root, async () => {
      const heads: EngineHead[] = [];
      for (const { name: device } of await entriesOf(join(this.root, 'logs'))) {
        const files = await this.filesOf(device);
        const last = files.reduce<RowFile | undefined>((best, file) => (best && best.to >= file.to ? best : file), undefined);
        if (last) heads.push({ device, next: last.to, count: coveredBy(files, 0, last.to), mark: last.mark });
      }
      // Somebody may have removed the history since it was opened: what it had is not to be given back to it.
      if (heads.length === 0 && !(await isHistory(this.root))) throw noHistory(dirname(this.root));
      return heads;
    });
  }

  pull({ device, from, to }: LogRange): Promise<readonly SealedRecord[]> {
    return guarded(this.root, async () => {
      const rows = new Map<number, SealedRecord>();
      let bytes = 0;
      for (const file of (await this.filesOf(device)).filter((one) => one.to > from && one.from < to)) {
        if (bytes > mostBytes) break;
        if (isCovered(rows, Math.max(from, file.from), Math.min(to, file.to))) continue;
        const content = await readWhole(join(this.root, 'logs', device, file.name), most.rows);
        // Bytes that have changed since are no rows of ours.
        if (!content || digestOf(content) !== file.digest) continue;
        bytes += content.length;
        for (const row of decodeRows(content)) if (row.index >= from && row.index < to && !rows.has(row.index)) rows.set(row.index, row);
      }
      return [...rows.values()].sort((a, b) => a.index - b.index);
    });
  }

  push(rows: readonly SealedRecord[], keys: readonly WrappedKey[]): Promise<void> {
    return guarded(this.root, async () => {
      // Somebody may have removed the history since it was opened: it is not to be begun anew.
      if (!(await isHistory(this.home))) throw noHistory(dirname(this.home));
      if (keys.length > 0) await mkdir(join(this.root, 'keys'), { recursive: true });
      for (const { id, wrapped } of keys) await this.write(join(this.root, 'keys', id), wrapped);
      const [first, last] = [rows[0], rows.at(-1)];
      if (!first || !last) return;
      const content = encodeRows(rows);
      const folder = join(this.root, 'logs', first.device);
      await mkdir(folder, { recursive: true });
      await this.write(join(folder, nameOf(first, last, content)), content);
      await this.mergeFiles(first.device);
    });
  }

  /** Many small files become a large one; those that have been one for a day go. Which devices do so at once does not matter. */
  private async mergeFiles(device: string): Promise<void> {
    const folder = join(this.root, 'logs', device);
    const files = await this.filesOf(device);
    const isMerged = (small: RowFile) =>
      files.find(
        (file) => file.bytes > small.bytes && file.from <= small.from && file.to >= small.to && file.to - file.from > small.to - small.from,
      );
    const small = files.filter((file) => file.bytes < merging.bytes && !isMerged(file));
    if (small.length >= merging.files) {
      for (const run of runsOf(small)) {
        const rows = new Map<number, SealedRecord>();
        for (const { name, digest } of run) {
          const content = await readWhole(join(folder, name), most.rows);
          if (content && digestOf(content) === digest) for (const row of decodeRows(content)) rows.set(row.index, row);
        }
        const [first, last] = [run[0]!, run.at(-1)!];
        if (run.length < 2 || !isCovered(rows, first.from, last.to)) continue;
        const all = [...rows.values()].sort((a, b) => a.index - b.index);
        const content = encodeRows(all);
        await this.write(join(folder, nameOf(all[0]!, all.at(-1)!, content)), content);
      }
    }
    // A carrier may have the size right and the bytes not yet.
    const checked = new Map<string, boolean>();
    const isSound = async ({ name, digest }: RowFile) => {
      const known =
        checked.get(name) ?? digestOf((await readWhole(join(folder, name), most.rows).catch(() => undefined)) ?? Buffer.of()) === digest;
      checked.set(name, known);
      return known;
    };
    for (const file of files) {
      const large = isMerged(file);
      if (large && Date.now() - large.modifiedAt > merging.stayMs && (await isSound(large)))
        await rm(join(folder, file.name), { force: true });
    }
  }

  counts(ranges: readonly LogRange[]): Promise<readonly number[]> {
    return guarded(this.root, async () => {
      const counts: number[] = [];
      for (const { device, from, to } of ranges) counts.push(coveredBy(await this.filesOf(device), from, to));
      return counts;
    });
  }

  keys(ids: readonly string[]): Promise<readonly WrappedKey[]> {
    return guarded(this.root, async () => {
      const keys: WrappedKey[] = [];
      for (const id of ids) {
        if (!isName(id)) continue;
        const wrapped = await readWhole(join(this.root, 'keys', id), most.key).catch(() => undefined);
        if (wrapped) keys.push({ id, wrapped });
      }
      return keys;
    });
  }

  dropKeys(ids: readonly string[]): Promise<void> {
    return guarded(this.root, async () => {
      for (const id of ids) if (isName(id)) await rm(join(this.root, 'keys', id), { force: true });
    });
  }

  dropLog(device: string): Promise<void> {
    return guarded(this.root, async () => {
      if (isName(device)) await rm(join(this.root, 'logs', device), { recursive: true, force: true });
    });
  }

  dropAll(): Promise<void> {
    return guarded(this.root, async () => {
      // By these a history is known to be there.
      await rm(join(this.root, 'version'), { force: true });
      await rm(join(this.root, 'keys'), { recursive: true, force: true });
      await rm(this.root, { recursive: true, force: true });
    });
  }

  attachments(): SyncEngine {
    return new FolderEngine(join(this.root, 'attachments'), this.written, this.home);
  }

  private watcher: { close(): void } | undefined;
  private poll: NodeJS.Timeout | undefined;

  /** Network folders can be watched, and never tell what other machines write; some systems cannot watch below a folder at all. */
  async listen(onNews: () => void): Promise<boolean> {
    await this.close();
    let known: string | null = null;
    void this.names().then((names) => (known ??= names));
    this.poll = setInterval(() => {
      void this.names().then((names) => {
        if (known !== null && names !== known) onNews();
        known = names;
      });
    }, pollMs).unref();
    try {
      const isOwn = (name: string) => this.written.has(stemOf(basename(name)));
      this.watcher = watch(this.root, { recursive: true }, (_, name) => (name === null || !isOwn(name)) && onNews()).on(
        'error',
        () => undefined,
      );
    } catch {
      // Looking now and then is enough.
    }
    return true;
  }

  close(): Promise<void> {
    clearInterval(this.poll);
    this.watcher?.close();
    return Promise.resolve();
  }

  private write(file: string, bytes: Uint8Array): Promise<void> {
    this.written.add(basename(file));
    return writeWhole(file, bytes);
  }

  /** Names all files of rows: the text is the same as long as nobody has written. A folder that is away for the moment has none. */
  private async names(): Promise<string> {
    try {
      const names: string[] = [];
      for (const { name: device } of await entriesOf(join(this.root, 'logs')))
        for (const { name } of await entriesOf(join(this.root, 'logs', device))) names.push(`${device}/${name}`);
      return names.sort().join('\n');
    } catch {
      return '';
    }
  }

  /** In order; those that have not arrived whole are left out. */
  private async filesOf(device: string): Promise<readonly RowFile[]> {
    if (!isName(device)) return [];
    const folder = join(this.root, 'logs', device);
    const files: RowFile[] = [];
    for (const { name } of await entriesOf(folder)) {
      const [, from, to, mark, length, digest] = /^(\d{10})-(\d{10})-([0-9a-f]{1,8})-(\d+)-([0-9a-f]{16})\.rows$/.exec(name) ?? [];
      if (digest === undefined || Number(to) <= Number(from)) continue;
      const found = await stat(join(folder, name)).catch(() => undefined);
      if (!found?.isFile() || found.size !== Number(length) || found.size > most.rows) continue;
      files.push({
        name,
        from: Number(from),
        to: Number(to),
        mark: Number.parseInt(mark!, 16),
        digest,
        bytes: found.size,
        modifiedAt: found.mtimeMs,
      });
    }
    return files.sort((a, b) => a.from - b.from || b.to - a.to || (a.name < b.name ? -1 : 1));
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

/** Not every carrier brings folders that are empty, and where the last session was deleted for good there are no keys. */
async function isHistory(root: string): Promise<boolean> {
  return (await stat(join(root, 'version')).catch(() => undefined))?.isFile() === true || isFolder(join(root, 'keys'));
}

function noHistory(folder: string): EngineError {
  return new EngineError('no_history', english('{0} has no history of this recovery phrase and name', folder));
}

async function entriesOf(folder: string): Promise<readonly { readonly name: string }[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    // What is no folder holds nothing of ours.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}

/** Files that follow each other without a hole, up to what one answer has. */
function runsOf(files: readonly RowFile[]): readonly (readonly RowFile[])[] {
  const runs: RowFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const run = runs.at(-1);
    if (run && run.at(-1)!.to === file.from && bytes + file.bytes <= mostBytes) run.push(file);
    else {
      runs.push([file]);
      bytes = 0;
    }
    bytes += file.bytes;
  }
  return runs;
}

function isCovered(rows: ReadonlyMap<number, SealedRecord>, from: number, to: number): boolean {
  for (let index = from; index < to; index++) if (!rows.has(index)) return false;
  return true;
}

/** All that a head needs, and what tells a file that has come whole. */
function nameOf(first: SealedRecord, last: SealedRecord, content: Uint8Array): string {
  return `${[pad(first.index), pad(last.index + 1), last.mark.toString(16), String(content.length), digestOf(content)].join('-')}.rows`;
}

/** So many indices of the range are in the files, which may overlap. */
function coveredBy(files: readonly RowFile[], from: number, to: number): number {
  let covered = 0;
  let at = from;
  for (const file of files) {
    const [start, end] = [Math.max(at, file.from), Math.min(to, file.to)];
    if (end <= start) continue;
    covered += end - start;
    at = end;
  }
  return covered;
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

function pad(index: number): string {
  return String(index).padStart(10, '0');
}

/** What comes from others is not to lead to another folder. */
function isName(text: string): boolean {
  return /^[\w-]{1,64}$/.test(text);
}

const failures: Readonly<Record<string, EngineFailure>> = {
  EACCES: 'refused',
  EPERM: 'refused',
  EROFS: 'readonly',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

async function guarded<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError) throw error;
    const reason = failures[(error as NodeJS.ErrnoException).code ?? ''] ?? 'unreachable';
    const said = {
      refused: english('There is no right to read and write in {0}: give it to your user', folder),
      readonly: english('{0} can only be read: it must be writable', folder),
      full: english('The disk of {0} is full: make room', folder),
    } as Partial<Record<EngineFailure, string>>;
    throw new EngineError(reason, said[reason] ?? english('{0} cannot be used: {1}', folder, (error as Error).message), { cause: error });
  }
}
