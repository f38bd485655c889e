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
