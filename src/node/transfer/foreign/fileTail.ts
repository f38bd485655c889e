import { open, stat } from 'node:fs/promises';
import { bytesOf, linesOf } from './readJsonLines';

export type TailEvent =
  /**
   * The file is another one, or no longer begins as it did: what has been read so far is void, and comes again as far as it is still there.
   */
  { readonly type: 'restarted' } | { readonly type: 'line'; readonly text: string };

/** So many bytes in front of where reading goes on have to be what they were. */
const checkedBytes = 256;
/** A last line that is longer is read again once its end has come; until then only what is new of it is looked at. */
const longLine = 1024 * 1024;
const chunkBytes = 256 * 1024;

/**
 * The complete lines of a growing file that say something, each once. A last line that is only half there is left until its end has come. A
 * file that was replaced, cut or rewritten is read from its start again; while there is none, there is nothing.
 */
export class FileTail {
  private offset = 0;
  /** Device and inode. */
  private identity: string | null = null;
  private checked: Buffer = Buffer.alloc(0);
  /** The last line goes on at least to here. */
  private openUntil = 0;

  constructor(readonly file: string) {}

  /** What has been read, for those who go on behind it: bytes of which file. */
  get position(): { readonly identity: string | null; readonly offset: number } {
    return { identity: this.identity, offset: this.offset };
  }

  /** Whether something may have changed since the last `read`. Never rejects. */
  async hasNews(): Promise<boolean> {
    const found = await this.look();
    return found !== null && (found.identity !== this.identity || found.size !== this.offset);
  }

  /** Rejects as the file system says, other than by there being no file. */
  async *read(signal?: AbortSignal): AsyncGenerator<TailEvent, void, void> {
    const found = await this.look();
    if (!found) return;
    const isSame = found.identity === this.identity && found.size >= this.offset && (await this.before(this.offset)).equals(this.checked);
    if (!isSame) {
      const isFirst = this.identity === null;
      this.identity = found.identity;
      this.offset = 0;
      this.checked = Buffer.alloc(0);
      this.openUntil = 0;
      if (!isFirst) yield { type: 'restarted' };
    }
    if (await this.isStillOpen(found.size, signal)) return;
    for await (const { text, end, complete, bytes } of linesOf(this.goesOn(signal), this.offset)) {
      if (!complete) {
        this.openUntil = end;
        break;
      }
      if (text.trim() !== '') yield { type: 'line', text };
      // The ending is that of what was read, and not of what stands there by now: the file may be another one already.
      this.checked = bytes ? ending(this.checked, bytes) : await this.before(end);
      this.offset = end;
    }
  }

  /**
   * What stands behind the offset. Each part is read together with the bytes in front of it, which have to be what they were: of a file
   * that is rewritten while it is read, the start of the old one would go on with the rest of the new one. It ends there, and the next
   * `read` finds the same.
   */
  private async *goesOn(signal?: AbortSignal): AsyncGenerator<Buffer, void, void> {
    let [at, front] = [this.offset, this.checked];
    const handle = await open(this.file, 'r');
    try {
      for (;;) {
        signal?.throwIfAborted();
        const length = front.length + chunkBytes;
        const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at - front.length);
        if (bytesRead <= front.length || !buffer.subarray(0, front.length).equals(front)) return;
        yield buffer.subarray(front.length, bytesRead);
        at += bytesRead - front.length;
        front = buffer.subarray(Math.max(0, bytesRead - checkedBytes), bytesRead);
      }
    } finally {
      await handle.close();
    }
  }

  /** A long last line that has grown, and has no end yet. One that is no longer than it was may have become another. */
  private async isStillOpen(size: number, signal?: AbortSignal): Promise<boolean> {
    const from = this.openUntil;
    if (from - this.offset < longLine || size <= from) return false;
    let at = from;
    for await (const chunk of bytesOf(this.file, from, chunkBytes, signal)) {
      if (chunk.includes(lineFeed)) return false;
      at += chunk.length;
    }
    this.openUntil = at;
    return true;
  }

  private async look(): Promise<{ readonly identity: string; readonly size: number } | null> {
    try {
      const { dev, ino, size } = await stat(this.file);
      return { identity: identityOf({ dev, ino }), size };
    } catch {
      return null;
    }
  }

  private async before(offset: number): Promise<Buffer> {
    const length = Math.min(offset, checkedBytes);
    if (length === 0) return Buffer.alloc(0);
    const handle = await open(this.file, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset - length);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }
}

const lineFeed = Buffer.from('\n');

function ending(before: Buffer, line: Buffer): Buffer {
  const isEnough = line.length + 1 >= checkedBytes;
  const all = Buffer.concat(isEnough ? [line.subarray(line.length + 1 - checkedBytes), lineFeed] : [before, line, lineFeed]);
  return all.length > checkedBytes ? Buffer.from(all.subarray(all.length - checkedBytes)) : all;
}

export function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`;
}
