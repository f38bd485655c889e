import fs, { constants } from 'node:fs';
import { dirname } from 'node:path';
import type { AtomicFs } from '../../../src/node/store/database/atomicFile';
import type { BridgeFs } from '../../../src/node/store/wasm/fileBridge';
import type { DiskEvent } from './storePowerCut';

export type FileCall = 'open' | 'write' | 'sync' | 'truncate' | 'unlink';

/** Node's `fs` with calls that fail on demand. */
export class FaultyFs {
  /** Asked before every call that changes something: the error code it fails with, or undefined. */
  fault: (call: FileCall, path: string) => string | undefined = () => undefined;
  /** A failing write leaves half of its bytes behind, as a full disk does. */
  halfWrites = false;
  /** Is told of everything that changes the disk, once it has happened. */
  record: (event: DiskEvent) => void = () => undefined;
  private readonly paths = new Map<number, string>();

  readonly fs: BridgeFs & AtomicFs & Pick<typeof fs, 'mkdirSync' | 'readFileSync'> = {
    ...fs,
    openSync: (path, flags, mode) => {
      this.check('open', String(path));
      const creates = (flags === 'wx' || (Number(flags) & constants.O_CREAT) !== 0) && !fs.existsSync(path);
      const fd = fs.openSync(path, flags, mode);
      this.paths.set(fd, String(path));
      if (creates) this.record({ type: 'create', path: String(path) });
      return fd;
    },
    writeSync: ((fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
      const path = this.paths.get(fd) ?? '';
      const code = this.fault('write', path);
      if (code === undefined) {
        this.record({ type: 'write', path, position, bytes: Buffer.from(bytes.subarray(offset, offset + length)) });
        return fs.writeSync(fd, bytes, offset, length, position);
      }
      if (this.halfWrites && length > 1) return fs.writeSync(fd, bytes, offset, length >> 1, position);
      throw failure(code);
    }) as BridgeFs['writeSync'],
    fdatasyncSync: (fd) => {
      this.check('sync', this.paths.get(fd) ?? '');
      fs.fdatasyncSync(fd);
      this.record({ type: 'sync', path: this.paths.get(fd) ?? '' });
    },
    fsyncSync: (fd) => {
      const path = this.paths.get(fd) ?? '';
      const isFolder = fs.fstatSync(fd).isDirectory();
      if (!isFolder) this.check('sync', path);
      fs.fsyncSync(fd);
      this.record({ type: isFolder ? 'syncFolder' : 'sync', path });
    },
    renameSync: (from, to) => {
      fs.renameSync(from, to);
      this.record({ type: 'rename', path: String(from), to: String(to) });
    },
    rmSync: (path, options) => {
      const was = fs.existsSync(path);
      fs.rmSync(path, options);
      if (was) this.record({ type: 'unlink', path: String(path) });
    },
    mkdirSync: ((path: string, options: { recursive: true }) => {
      const missing: string[] = [];
      for (let folder = path; !fs.existsSync(folder); folder = dirname(folder)) missing.unshift(folder);
      const created = fs.mkdirSync(path, options);
      for (const folder of missing) this.record({ type: 'createFolder', path: folder });
      return created;
    }) as typeof fs.mkdirSync,
    ftruncateSync: (fd, length) => {
      this.check('truncate', this.paths.get(fd) ?? '');
      fs.ftruncateSync(fd, length);
      this.record({ type: 'truncate', path: this.paths.get(fd) ?? '', length: length ?? 0 });
    },
    unlinkSync: (path) => {
      this.check('unlink', String(path));
      fs.unlinkSync(path);
      this.record({ type: 'unlink', path: String(path) });
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
