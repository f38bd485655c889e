import { readSync } from 'node:fs';
import { checksum, matches } from '../../store/database/walReplay';

const headerBytes = 32;
const frameHeaderBytes = 24;
/** Read at once. */
const chunkBytes = 1024 * 1024;

/**
 * Where in a growing write-ahead log the newest committed content of each page lies. What has been checked is not read again, as long as
 * the log was not begun anew. Format: https://www.sqlite.org/fileformat2.html#walformat
 */
export class WalIndex {
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
  return header.readUInt32BE(8) >= 512 && matches(view, 24, checksum(view, 0, 24, [0, 0], isLittleEndian)) ? header : Buffer.alloc(0);
}
