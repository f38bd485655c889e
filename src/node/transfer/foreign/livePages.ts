import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ByteSource } from '../../store/wasm/virtualFiles';
import { WalIndex } from './walIndex';

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
  size = 0;
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
    return stampOf(this.file) === this.stamp && this.index.isStill(this.log);
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
    this.size = this.index.pageCount > 0 ? this.index.pageCount * this.pageSize : fstatSync(this.main).size;
  }
}

/** Never the same twice for a file that may be written again without its time showing it. */
function stampOf(file: string): string {
  const { dev, ino, size, mtimeMs } = statSync(file);
  const isFresh = Math.abs(Date.now() - mtimeMs) < tickMs;
  return [dev, ino, size, mtimeMs, isFresh ? performance.now() : ''].join();
}
