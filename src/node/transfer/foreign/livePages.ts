import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ByteSource } from '../../store/wasm/virtualFiles';
import { checksum, isPageSize, matches } from '../../store/database/walFrames';

/** The clock of file times ticks every 4 ms at the slowest; a file that was written just now may be written again within the same tick. */
const tickMs = 20;

/**
 * Another program's database as of its last commit, a page at a time: from its log where that has a newer one, else from its file. Neither
 * is locked or written, so the program may move pages from the log to the file meanwhile: `isStill` says afterwards whether it has.
 */
export class LivePages implements ByteSource {
  private readonly index = new WalIndex();
  private main = -1;
  private log: number | null = null;
  private stamp = '';
  private pageSize = 0;
  /** As the log says: any length, where it was made to. */
  size = 0;
  /** Bytes of both files. */
  bytes = 0;
  /** Since `open`, of both files, without the log's new frames. */
  bytesRead = 0;

  constructor(readonly file: string) {}

  /** Goes over to what has been committed by now; to be closed, unless this throws as the file system says. */
  open(): void {
    this.main = openSync(this.file, 'r');
    this.bytesRead = 0;
    try {
      this.begin();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Whether all that was read since `open` is of one commit. */
  isStill(): boolean {
    return stampOf(this.file) === this.stamp && this.index.isStill(this.log) && !isHalfWritten(this.file);
  }

  read(into: Uint8Array, offset: number, length: number, position: number): number {
    const wanted = Math.max(0, Math.min(length, this.size - position));
    for (let done = 0; done < wanted; ) {
      const [page, within] = [Math.floor((position + done) / this.pageSize) + 1, (position + done) % this.pageSize];
      const inLog = this.index.offsetOf(page);
      let here = Math.min(wanted - done, this.pageSize - within);
      // Pages that lie side by side in the file are read at once.
      if (inLog === undefined)
        for (let next = page + 1; here < wanted - done && this.index.offsetOf(next) === undefined; next++)
          here = Math.min(wanted - done, here + this.pageSize);
      const moved =
        inLog === undefined
          ? readSync(this.main, into, offset + done, here, position + done)
          : readSync(this.log!, into, offset + done, here, inLog + within);
      if (moved === 0) return done;
      done += moved;
      this.bytesRead += moved;
    }
    // A log beside it would be looked for: the header must not ask for one.
    for (const at of [18, 19]) if (at >= position && at < position + wanted) into[offset + at - position] = 1;
    return wanted;
  }

  close(): void {
    for (const descriptor of [this.main, this.log ?? -1]) if (descriptor !== -1) closeSync(descriptor);
    [this.main, this.log] = [-1, null];
  }

  private begin(): void {
    const log = `${this.file}-wal`;
    this.log = existsSync(log) ? openSync(log, 'r') : null;
    // Before the log is read: what is moved from there to here from now on shows.
    this.stamp = stampOf(this.file);
    this.index.update(this.log);
    const header = Buffer.alloc(18);
    readSync(this.main, header, 0, header.length, 0);
    const stored = header.readUInt16BE(16);
    this.pageSize = this.index.pageSize || (stored === 1 ? 65_536 : Math.max(512, stored));
    this.bytes = fstatSync(this.main).size + (this.log === null ? 0 : fstatSync(this.log).size);
    this.size = this.index.pageCount > 0 ? this.index.pageCount * this.pageSize : fstatSync(this.main).size;
  }
}

/** Never the same twice for a file that may be written again without its time showing it. */
function stampOf(file: string): string {
  const { dev, ino, size, mtimeMs } = statSync(file);
  const isFresh = Math.abs(Date.now() - mtimeMs) < tickMs;
  return [dev, ino, size, mtimeMs, isFresh ? performance.now() : ''].join();
}

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Read at once. */
const chunkBytes = 1024 * 1024;

/**
 * Where in a growing write-ahead log the newest committed content of each page lies. What has been checked is not read again, as long as
 * the log was not begun anew. Format: https://www.sqlite.org/fileformat2.html#walformat
 */
class WalIndex {
  private header: Buffer = Buffer.alloc(0);
  private readonly offsets = new Map<number, number>();
  /** It lies behind the last commit; there the next frame is looked for, whose sum goes on from this one. */
  private end = headerBytes;
  private sum: readonly [number, number] = [0, 0];

  /** The database had so many as of the last commit; 0 without one. */
  pageCount = 0;

  get pageSize(): number {
    return this.header.length === 0 ? 0 : this.header.readUInt32BE(8);
  }

  /** Where the page's content begins; undefined: the database has it. */
  offsetOf(page: number): number | undefined {
    return this.offsets.get(page);
  }

  /** Takes in what has been committed since. Null: there is no log. */
  update(log: number | null): void {
    const header = headerOf(log);
    if (!header.equals(this.header)) this.begin(header);
    if (log === null || this.header.length === 0) return;
    const { pageSize } = this;
    const frameBytes = frameHeaderBytes + pageSize;
    const buffer = Buffer.alloc(Math.max(1, Math.floor(chunkBytes / frameBytes)) * frameBytes);
    const isLittleEndian = (this.header.readUInt32BE(0) & 1) === 0;
    let pending = new Map<number, number>();
    let sum = this.sum;
    for (let at = this.end; ; ) {
      const frames = Math.floor(readSync(log, buffer, 0, buffer.length, at) / frameBytes);
      const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
      for (let i = 0; i < frames; i++, at += frameBytes) {
        const start = i * frameBytes;
        // A frame of an earlier round of the log has other salts; one that is being written has a wrong sum. Either ends the log.
        if (!buffer.subarray(start + 8, start + 16).equals(this.header.subarray(16, 24))) return;
        sum = checksum(view, start, 8, sum, isLittleEndian);
        sum = checksum(view, start + frameHeaderBytes, pageSize, sum, isLittleEndian);
        if (!matches(view, start + 16, sum)) return;
        pending.set(view.getUint32(start), at + frameHeaderBytes);
        const pagesAfterCommit = view.getUint32(start + 4);
        if (pagesAfterCommit === 0) continue;
        for (const [page, offset] of pending) this.offsets.set(page, offset);
        [pending, this.pageCount, this.end, this.sum] = [new Map(), pagesAfterCommit, at + frameBytes, sum];
      }
      if (frames * frameBytes < buffer.length) return;
    }
  }

  /** Whether what `offsetOf` says still holds: the log may have grown, but was not begun anew. */
  isStill(log: number | null): boolean {
    return headerOf(log).equals(this.header);
  }

  private begin(header: Buffer): void {
    this.offsets.clear();
    [this.header, this.end, this.pageCount, this.sum] = [
      header,
      headerBytes,
      0,
      header.length === 0 ? [0, 0] : [header.readUInt32BE(24), header.readUInt32BE(28)],
    ];
  }
}

/** Empty where there is none that SQLite would recover. */
function headerOf(log: number | null): Buffer {
  const header = Buffer.alloc(headerBytes);
  if (log === null || readSync(log, header, 0, headerBytes, 0) < headerBytes || (header.readUInt32BE(0) & 0xfffffffe) >>> 0 !== 0x377f0682)
    return Buffer.alloc(0);
  const view = new DataView(header.buffer, header.byteOffset, headerBytes);
  const isLittleEndian = (header.readUInt32BE(0) & 1) === 0;
  return isPageSize(header.readUInt32BE(8)) && matches(view, 24, checksum(view, 0, 24, [0, 0], isLittleEndian)) ? header : Buffer.alloc(0);
}

const journalMagic = Buffer.from('d9d505f920a163d7', 'hex');

/**
 * A transaction of a database without a write-ahead log is writing its pages to the file, or has been ended while it did: what stood there
 * before lies in the journal beside it, whose header says so once pages may have been written.
 * Format: https://www.sqlite.org/fileformat2.html#the_rollback_journal
 */
export function isHalfWritten(file: string): boolean {
  let journal: number;
  try {
    journal = openSync(`${file}-journal`, 'r');
  } catch {
    return false;
  }
  try {
    const header = Buffer.alloc(12);
    return readSync(journal, header, 0, 12, 0) === 12 && header.subarray(0, 8).equals(journalMagic) && header.readInt32BE(8) !== 0;
  } finally {
    closeSync(journal);
  }
}
