/** Bytes read at once. */
const window = 16 * 1024;

/**
 * Reads a file in larger pieces than it is asked for: the pages of a database are small (storeDatabase.ts), and those of a text
 * lie side by side. Only for a file that nobody else writes, and to be told of every change. Measured: a branch of 20 MB in pages
 * of 512 costs 100 ms of processor time instead of 136 (in pages of 2048: 80 instead of 84).
 */
export class ReadAhead {
  private readonly bytes = new Uint8Array(window);
  private from = 0;
  private length = 0;

  constructor(private readonly readFile: (into: Uint8Array, offset: number, length: number, position: number) => number) {}

  read(into: Uint8Array, offset: number, length: number, position: number): number {
    if (length > window / 2) return this.readFile(into, offset, length, position);
    if (position < this.from || position + length > this.from + this.length) {
      // A walk goes down as well as up, so a window does not begin where the first read does.
      const from = position - (position % (window / 2));
      this.length = 0;
      this.length = this.readFile(this.bytes, 0, window, from);
      this.from = from;
    }
    const start = position - this.from;
    const end = Math.max(start, Math.min(start + length, this.length));
    into.set(this.bytes.subarray(start, end), offset);
    return end - start;
  }

  forget(): void {
    this.length = 0;
  }
}

/** Bytes gathered before they are written: 122 frames of a log of pages of 512 bytes. Four times as many saved nothing more. */
const mostBytes = 64 * 1024;

/**
 * Writes a file in larger pieces than it is given: SQLite writes the head of every frame of its log, the page behind it, and at a
 * checkpoint every page, by a system call each. Writes that follow one another are gathered; whoever reads, measures, cuts, syncs or
 * closes the file calls `flush` first, so that nobody sees the difference, and what SQLite has not synced it does not rely on. An error
 * of the file system may come with a later call than the write that it belongs to, at the latest with the sync.
 */
export class WriteBehind {
  private bytes: Uint8Array | undefined;
  private from = 0;
  private length = 0;

  /** `writeFile` as `fs.writeSync`: it may write less than it is given. */
  constructor(private readonly writeFile: (bytes: Uint8Array, offset: number, length: number, position: number) => number) {}

  write(source: Uint8Array, offset: number, length: number, position: number): number {
    if (this.length > 0 && (position !== this.from + this.length || this.length + length > mostBytes)) this.flush();
    if (length > mostBytes / 2) return this.writeFile(source, offset, length, position);
    this.bytes ??= new Uint8Array(mostBytes);
    if (this.length === 0) this.from = position;
    this.bytes.set(source.subarray(offset, offset + length), this.length);
    this.length += length;
    return length;
  }

  /** Throws what the file system says. What could not be written is dropped: SQLite is told, and undoes what it belongs to. */
  flush(): void {
    const { length, bytes } = this;
    this.length = 0;
    if (length === 0 || !bytes) return;
    for (let written = 0; written < length; ) {
      const moved = this.writeFile(bytes, written, length - written, this.from + written);
      if (moved === 0) throw Object.assign(new Error('The disk takes nothing more'), { code: 'ENOSPC' });
      written += moved;
    }
  }
}
