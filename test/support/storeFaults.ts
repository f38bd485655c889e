import fs from 'node:fs';
import type { BridgeFs } from '../../src/node/store/fileBridge';

export type FileCall = 'open' | 'write' | 'sync' | 'truncate' | 'unlink';

/** Node's `fs` with calls that fail on demand. */
export class FaultyFs {
  /** Asked before every call that changes something: the error code it fails with, or undefined. */
  fault: (call: FileCall, path: string) => string | undefined = () => undefined;
  /** A failing write leaves half of its bytes behind, as a full disk does. */
  halfWrites = false;
  private readonly paths = new Map<number, string>();

  readonly fs: BridgeFs = {
    ...fs,
    openSync: (path, flags, mode) => {
      this.check('open', String(path));
      const fd = fs.openSync(path, flags, mode);
      this.paths.set(fd, String(path));
      return fd;
    },
    writeSync: ((fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
      const code = this.fault('write', this.paths.get(fd) ?? '');
      if (code === undefined) return fs.writeSync(fd, bytes, offset, length, position);
      if (this.halfWrites && length > 1) return fs.writeSync(fd, bytes, offset, length >> 1, position);
      throw failure(code);
    }) as BridgeFs['writeSync'],
    fdatasyncSync: (fd) => {
      this.check('sync', this.paths.get(fd) ?? '');
      fs.fdatasyncSync(fd);
    },
    ftruncateSync: (fd, length) => {
      this.check('truncate', this.paths.get(fd) ?? '');
      fs.ftruncateSync(fd, length);
    },
    unlinkSync: (path) => {
      this.check('unlink', String(path));
      fs.unlinkSync(path);
    },
  };

  /** The nth of these calls fails, and all after it until `heal`. */
  failFrom(n: number, code: string, calls: readonly FileCall[]): void {
    let left = n;
    this.fault = (call) => (calls.includes(call) && --left <= 0 ? code : undefined);
  }

  heal(): void {
    this.fault = () => undefined;
    this.halfWrites = false;
  }

  private check(call: FileCall, path: string): void {
    const code = this.fault(call, path);
    if (code !== undefined) throw failure(code);
  }
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: injected`), { code });
}
