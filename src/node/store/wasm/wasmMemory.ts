import type { Stats } from 'node:fs';

/** The part of `WebAssembly` in use. TypeScript keeps its declaration in the DOM library, which code for Node does not load. */
export type WasmImports = Record<string, Record<string, unknown>>;

interface WasmMemoryObject {
  readonly buffer: ArrayBuffer;
}

export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>;
}

interface WasmApi {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Instance: new (module: object, imports: WasmImports) => WasmInstance;
  readonly Memory: new (limits: { initial: number }) => WasmMemoryObject;
}

export const wasm = (globalThis as unknown as { readonly WebAssembly: WasmApi }).WebAssembly;

/** Reads and writes the C structures of a WebAssembly module. The views die whenever its memory grows, so each call renews them. */
export class WasmMemory {
  private memory: WasmMemoryObject | undefined;
  private currentBytes = new Uint8Array(0);
  private currentView = new DataView(new ArrayBuffer(0));

  attach(memory: WasmMemoryObject): void {
    this.memory = memory;
  }

  get bytes(): Uint8Array {
    this.renew();
    return this.currentBytes;
  }

  get view(): DataView {
    this.renew();
    return this.currentView;
  }

  string(pointer: number): string {
    const bytes = this.bytes;
    return Buffer.from(bytes.buffer, pointer, bytes.indexOf(0, pointer) - pointer).toString('utf8');
  }

  uint32(pointer: number): number {
    return this.view.getUint32(pointer, true);
  }

  /** The number must not be negative, and must be below 2^53. */
  writeInt64(pointer: number, value: number): void {
    const view = this.view;
    view.setUint32(pointer, value >>> 0, true);
    view.setUint32(pointer + 4, Math.floor(value / 2 ** 32), true);
  }

  /**
   * Emscripten's `struct stat`. Device and inode are made up, a real inode may exceed what fits; owner is root, as
   * Emscripten's `geteuid` says we are.
   */
  writeStat(pointer: number, stat: Stats, inode: number): void {
    const view = this.view;
    this.bytes.fill(0, pointer, pointer + 96);
    view.setUint32(pointer, 0x746b, true);
    view.setUint32(pointer + 4, (stat.isDirectory() ? 0o040000 : 0o100000) | 0o600, true);
    view.setUint32(pointer + 8, 1, true);
    view.setBigInt64(pointer + 24, BigInt(stat.size), true);
    view.setUint32(pointer + 32, 4096, true);
    view.setUint32(pointer + 36, Math.ceil(stat.size / 512), true);
    const seconds = BigInt(Math.floor(stat.mtimeMs / 1000));
    for (const offset of [40, 56, 72]) view.setBigInt64(pointer + offset, seconds, true);
    view.setBigInt64(pointer + 88, BigInt(inode), true);
  }

  /** Memory that grows leaves views of length 0 behind. To ask it for its buffer is a call into V8, on every call of SQLite. */
  private renew(): void {
    if (this.currentBytes.length > 0 || !this.memory) return;
    this.currentBytes = new Uint8Array(this.memory.buffer);
    this.currentView = new DataView(this.memory.buffer);
  }
}

/** Error numbers of WASI, which Emscripten's C library uses instead of Linux's. Only those a file operation can end with. */
const wasiErrno: Readonly<Record<string, number>> = {
  EACCES: 2,
  EAGAIN: 6,
  EBADF: 8,
  EBUSY: 10,
  EDQUOT: 19,
  EEXIST: 20,
  EFBIG: 22,
  EINTR: 27,
  EINVAL: 28,
  EIO: 29,
  EISDIR: 31,
  ELOOP: 32,
  EMFILE: 33,
  ENAMETOOLONG: 37,
  ENFILE: 41,
  ENODEV: 43,
  ENOENT: 44,
  ENOMEM: 48,
  ENOSPC: 51,
  ENOTDIR: 54,
  EPERM: 63,
  EROFS: 69,
  ESPIPE: 70,
  ESTALE: 72,
  ETIMEDOUT: 73,
  ETXTBSY: 74,
};

/** Node's error code as WASI knows it; a code WASI has no name for counts as an I/O error. */
export function toWasiErrno(code: string | undefined): number {
  return (code === undefined ? undefined : wasiErrno[code]) ?? 29;
}

export const EINVAL = 28;
