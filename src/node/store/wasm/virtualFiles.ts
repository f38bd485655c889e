import type { BridgeFs } from './fileBridge';

/** Bytes that can be read as a file is, without there being one. */
export interface ByteSource {
  readonly size: number;
  /** Reads as `fs.readSync` does, and returns how many bytes it has put into `into`. Throws what the file system says. */
  read(into: Uint8Array, offset: number, length: number, position: number): number;
}

const prefix = 'virtual:';
/** Above every descriptor of a real file: a write to one fails as one to a file that is not open. */
const firstDescriptor = 1 << 24;

/**
 * Lets SQLite read what is no file, through the bridge that serves it real ones (fileBridge.ts). Beside it there is neither a log nor a
 * journal.
 */
export class VirtualFiles {
  private readonly sources = new Map<string, ByteSource>();
  private readonly open = new Map<number, ByteSource>();
  private last = firstDescriptor;

  /** The calls of `real`, and those to a source by its name. */
  readonly fs: BridgeFs;

  constructor(real: BridgeFs) {
    const statOf = ({ size }: ByteSource) => ({ size, mtimeMs: 0, isDirectory: () => false });
    // One by one and when called: tests exchange single calls of the file system that they pass.
    this.fs = {
      writeSync: ((fd: number, bytes: Uint8Array, offset: number, length: number, position: number) =>
        real.writeSync(fd, bytes, offset, length, position)) as BridgeFs['writeSync'],
      ftruncateSync: (...args) => real.ftruncateSync(...args),
      fdatasyncSync: (fd) => real.fdatasyncSync(fd),
      fsyncSync: (fd) => real.fsyncSync(fd),
      unlinkSync: (path) => real.unlinkSync(path),
      openSync: (path, ...args) => (isVirtual(path) ? this.openSource(path) : real.openSync(path, ...args)),
      closeSync: (fd) => (fd > firstDescriptor ? void this.open.delete(fd) : real.closeSync(fd)),
      readSync: ((fd: number, into: Uint8Array, offset: number, length: number, position: number) =>
        fd > firstDescriptor
          ? this.open.get(fd)!.read(into, offset, length, position)
          : real.readSync(fd, into, offset, length, position)) as BridgeFs['readSync'],
      fstatSync: ((fd: number) => (fd > firstDescriptor ? statOf(this.open.get(fd)!) : real.fstatSync(fd))) as BridgeFs['fstatSync'],
      statSync: ((path: string, options?: object) =>
        isVirtual(path) ? statOf(this.source(path)) : real.statSync(path, options)) as BridgeFs['statSync'],
    };
  }

  /** The name by which it can be opened, until `remove`. */
  add(source: ByteSource): string {
    const name = `${prefix}${++this.last}`;
    this.sources.set(name, source);
    return name;
  }

  remove(name: string): void {
    this.sources.delete(name);
  }

  private openSource(name: string): number {
    const source = this.source(name);
    this.open.set(++this.last, source);
    return this.last;
  }

  private source(name: string): ByteSource {
    const source = this.sources.get(name);
    if (!source) throw Object.assign(new Error(`There is no ${name}`), { code: 'ENOENT' });
    return source;
  }
}

function isVirtual(path: unknown): path is string {
  return typeof path === 'string' && path.startsWith(prefix);
}
