import nodeFs, { constants } from 'node:fs';
import { dirname } from 'node:path';
import { ReadAhead, WriteBehind } from './fileBuffer';
import { EINVAL, toWasiErrno, type WasmImports, WasmMemory } from './wasmMemory';

/** What the bridge needs of Node's `fs`; tests pass one that fails on demand. */
export type BridgeFs = Pick<
  typeof nodeFs,
  | 'openSync'
  | 'closeSync'
  | 'readSync'
  | 'writeSync'
  | 'ftruncateSync'
  | 'fdatasyncSync'
  | 'fsyncSync'
  | 'fstatSync'
  | 'statSync'
  | 'unlinkSync'
>;

/** The real files behind one SQLite database. */
export interface DatabaseFiles {
  readonly main: string;
  /**
   * Stands in for `main` + `-wal`. A name of our own, because every other SQLite program that opens `main` takes a `-wal`
   * beside it for its own and unlinks it: measured, 29 of 613 acknowledged commits lost after a read by `sqlite3` and a kill.
   */
  readonly wal: string;
  /** Stands in for `main` + `-journal`, for the same reason: without our locks another program would roll it back under us. */
  readonly journal: string;
}

/** One database served from real files, from its first open until `release`. */
export interface Binding {
  readonly files: DatabaseFiles;
  /** The last error of the file system, which SQLite's own message leaves out. */
  lastError: NodeJS.ErrnoException | undefined;
  /** How often SQLite has asked for its writes to be made durable. */
  syncs: number;
  /** From now on nothing is written or unlinked any more: another process owns the files. */
  revoked: boolean;
  /** Called whenever SQLite reads or writes: one long piece of work lets no timer run. Must not throw. */
  whileBusy?: () => void;
}

/** Real name of a system call → its name in the wasm file. */
export type ImportNames = Readonly<Record<string, string>>;

interface OpenFile {
  readonly fd: number;
  readonly path: string;
  readonly binding: Binding;
  readonly flags: number;
  readonly ahead: ReadAhead;
  readonly behind: WriteBehind;
  position: number;
}

type SystemCall = (...args: never[]) => number;

/**
 * Serves database files to SQLite-in-WASM straight from the file system, by standing in for the system calls the module
 * imports; every other path stays in Emscripten's in-memory file system. SQLite's own transactions, syncs and recovery then
 * work on the real file. Locks are no-ops as they always are there: one process per file is the caller's business (lease.ts).
 * Errors never cross as exceptions: `__syscall_*` answer with a negative error number, `fd_*` with a positive one.
 */
export class FileBridge {
  readonly memory = new WasmMemory();
  private next: Binding | undefined;
  private readonly bindings = new Map<string, Binding>();
  private readonly open = new Map<number, OpenFile>();
  private readonly inodes = new Map<string, number>();
  /** Far above any descriptor the in-memory file system hands out. */
  private nextFd = 1 << 20;
  /** Folders in which a file was created or unlinked since they were last synced. */
  private readonly unsyncedFolders = new Set<string>();

  constructor(private readonly fs: BridgeFs = nodeFs) {}

  /** The import object with the file calls replaced; undefined when one of them is not there under the name given. */
  wrap(imports: WasmImports, names: ImportNames): WasmImports | undefined {
    const wrapped: WasmImports = {};
    for (const [module, functions] of Object.entries(imports)) wrapped[module] = { ...functions };
    for (const [name, replace] of Object.entries(this.calls)) {
      const key = names[name];
      const home = Object.values(wrapped).find((functions) => key !== undefined && typeof functions[key] === 'function');
      if (!home || key === undefined) return undefined;
      home[key] = replace(home[key] as SystemCall);
    }
    return wrapped;
  }

  /** The next database that SQLite opens is these files; `release` the binding once it is closed. */
  bindNext(files: DatabaseFiles): Binding {
    this.next = { files, lastError: undefined, syncs: 0, revoked: false };
    return this.next;
  }

  isServing(binding: Binding): boolean {
    return [...this.open.values()].some((file) => file.binding === binding);
  }

  /** Forgets the binding and closes what SQLite left open. */
  release(binding: Binding): void {
    if (this.next === binding) this.next = undefined;
    for (const [name, bound] of this.bindings) if (bound === binding) this.bindings.delete(name);
    for (const [fd, file] of this.open) {
      if (file.binding !== binding) continue;
      this.open.delete(fd);
      this.fs.closeSync(file.fd);
    }
  }

  private readonly calls: Readonly<Record<string, (original: SystemCall) => SystemCall>> = {
    __syscall_openat: (original) => (dirfd: number, path: number, flags: number, varargs: number) => {
      const name = this.memory.string(path);
      if (this.next && /^\/?dbfile_\d+$/.test(name)) {
        this.bindings.set(baseName(name), this.next);
        this.next = undefined;
      }
      const found = this.locate(path);
      if (!found) return call(original, dirfd, path, flags, varargs);
      return guard(found.binding, -1, () => this.openFile(found.binding, found.path, flags), (flags & 0x40) === 0);
    },
    __syscall_stat64: (original) => (path: number, buffer: number) => this.stat(original, path, buffer),
    __syscall_lstat64: (original) => (path: number, buffer: number) => this.stat(original, path, buffer),
    __syscall_fstat64: (original) => (fd: number, buffer: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd, buffer);
      return guard(file.binding, -1, () => {
        flush(file);
        this.memory.writeStat(buffer, this.fs.fstatSync(file.fd), this.inode(file.path));
        return 0;
      });
    },
    __syscall_faccessat: (original) => (dirfd: number, path: number, mode: number, flags: number) => {
      const found = this.locate(path);
      if (!found) return call(original, dirfd, path, mode, flags);
      return guard(found.binding, -1, () => (this.fs.statSync(found.path), 0));
    },
    __syscall_unlinkat: (original) => (dirfd: number, path: number, flags: number) => {
      const found = this.locate(path);
      if (!found) return call(original, dirfd, path, flags);
      return guardWrite(found.binding, -1, () => {
        this.fs.unlinkSync(found.path);
        this.unsyncedFolders.add(dirname(found.path));
        this.syncFolders();
        return 0;
      });
    },
    __syscall_ftruncate64: (original) => (fd: number, length: bigint) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd, length);
      return guardWrite(file.binding, -1, () => {
        flush(file);
        file.ahead.forget();
        this.fs.ftruncateSync(file.fd, Number(length));
        return 0;
      });
    },
    __syscall_fcntl64: (original) => (fd: number, command: number, varargs: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd, command, varargs);
      const { view } = this.memory;
      if (command === 3) return file.flags;
      // F_GETLK: nobody holds a lock. Setting one succeeds.
      if (command === 12) view.setInt16(view.getUint32(varargs, true), 2, true);
      return 0;
    },
    // The file keeps the mode and owner it was created with.
    __syscall_fchmod: (original) => (fd: number, mode: number) => (this.open.has(fd) ? 0 : call(original, fd, mode)),
    __syscall_fchown32: (original) => (fd: number, owner: number, group: number) =>
      this.open.has(fd) ? 0 : call(original, fd, owner, group),
    fd_read: (original) => (fd: number, vectors: number, count: number, done: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd, vectors, count, done);
      return guard(file.binding, 1, () => this.transfer('readSync', file, vectors, count, done));
    },
    fd_write: (original) => (fd: number, vectors: number, count: number, done: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd, vectors, count, done);
      return guardWrite(file.binding, 1, () => this.transfer('writeSync', file, vectors, count, done));
    },
    fd_seek: (original) => (fd: number, offset: bigint, whence: number, result: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd, offset, whence, result);
      return guard(file.binding, 1, () => {
        if (whence === 2) flush(file);
        const base = whence === 0 ? 0 : whence === 1 ? file.position : this.fs.fstatSync(file.fd).size;
        const position = base + Number(offset);
        if (position < 0) return EINVAL;
        file.position = position;
        this.memory.writeInt64(result, position);
        return 0;
      });
    },
    fd_sync: (original) => (fd: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd);
      return guardWrite(file.binding, 1, () => {
        flush(file);
        this.fs.fdatasyncSync(file.fd);
        file.binding.syncs++;
        this.syncFolders();
        return 0;
      });
    },
    fd_close: (original) => (fd: number) => {
      const file = this.open.get(fd);
      if (!file) return call(original, fd);
      this.open.delete(fd);
      return guard(file.binding, 1, () => {
        try {
          flush(file);
        } finally {
          this.fs.closeSync(file.fd);
        }
        return 0;
      });
    },
  };

  private openFile(binding: Binding, path: string, flags: number): number {
    const creates = (flags & 0x40) !== 0 && !this.fs.statSync(path, { throwIfNoEntry: false });
    if (binding.revoked && (creates || flags & 0x200)) throw revoked();
    const mode =
      ([constants.O_RDONLY, constants.O_WRONLY, constants.O_RDWR][flags & 3] ?? constants.O_RDWR) |
      (flags & 0x40 ? constants.O_CREAT : 0) |
      (flags & 0x80 ? constants.O_EXCL : 0) |
      (flags & 0x200 ? constants.O_TRUNC : 0);
    // Conversations are nobody else's business: readable by the user alone.
    const fd = this.fs.openSync(path, mode, 0o600);
    if (creates) this.unsyncedFolders.add(dirname(path));
    const handle = this.nextFd++;
    const ahead = new ReadAhead((...into) => this.fs.readSync(fd, ...into));
    const behind = new WriteBehind((...from) => this.fs.writeSync(fd, ...from));
    this.open.set(handle, { fd, path, binding, flags, ahead, behind, position: 0 });
    return handle;
  }

  private transfer(action: 'readSync' | 'writeSync', file: OpenFile, vectors: number, count: number, done: number): number {
    const { memory } = this;
    file.binding.whileBusy?.();
    if (action === 'writeSync') file.ahead.forget();
    else flush(file);
    let total = 0;
    // WASI's array of `{ address, length }`. Read in place: a list made of it for every page took the store a sixth of its time in an
    // import of 80 MB.
    for (let i = 0; i < count; i++) {
      const address = memory.uint32(vectors + i * 8);
      const length = memory.uint32(vectors + i * 8 + 4);
      const moved =
        action === 'readSync'
          ? file.ahead.read(memory.bytes, address, length, file.position)
          : file.behind.write(memory.bytes, address, length, file.position);
      total += moved;
      file.position += moved;
      if (moved < length) break;
    }
    memory.view.setUint32(done, total, true);
    return 0;
  }

  private stat(original: SystemCall, path: number, buffer: number): number {
    const found = this.locate(path);
    if (!found) return call(original, path, buffer);
    return guard(found.binding, -1, () => {
      this.memory.writeStat(buffer, this.fs.statSync(found.path), this.inode(found.path));
      return 0;
    });
  }

  private inode(path: string): number {
    const inode = this.inodes.get(path) ?? this.inodes.size + 1;
    this.inodes.set(path, inode);
    return inode;
  }

  private locate(pointer: number): { binding: Binding; path: string } | undefined {
    const [, base, suffix] = /^(dbfile_\d+)(-wal|-journal)?$/.exec(baseName(this.memory.string(pointer))) ?? [];
    const binding = base === undefined ? undefined : this.bindings.get(base);
    if (!binding) return undefined;
    const { main, wal, journal } = binding.files;
    return { binding, path: suffix === '-wal' ? wal : suffix === '-journal' ? journal : main };
  }

  /** A new name is only durable once its folder is. Like SQLite itself, forgives file systems that cannot sync a folder. */
  private syncFolders(): void {
    for (const folder of this.unsyncedFolders) {
      // A copy that was thrown away takes its folder with it.
      if (process.platform !== 'win32' && this.fs.statSync(folder, { throwIfNoEntry: false })) {
        const fd = this.fs.openSync(folder, constants.O_RDONLY);
        try {
          this.fs.fsyncSync(fd);
        } catch (error) {
          if (codeOf(error) === 'EIO') throw error;
        } finally {
          this.fs.closeSync(fd);
        }
      }
      this.unsyncedFolders.delete(folder);
    }
  }
}

function guard(binding: Binding, sign: 1 | -1, action: () => number, mayBeMissing = true): number {
  try {
    return action();
  } catch (error) {
    // Asking for a file that is not there is how SQLite looks for a journal. One that cannot be created has no folder any more.
    if (!mayBeMissing || codeOf(error) !== 'ENOENT') binding.lastError = error as NodeJS.ErrnoException;
    return sign * toWasiErrno(codeOf(error));
  }
}

/** What the lease no longer allows to write is dropped. */
function flush({ binding, behind }: OpenFile): void {
  if (!binding.revoked) behind.flush();
}

function guardWrite(binding: Binding, sign: 1 | -1, action: () => number): number {
  return guard(binding, sign, () => {
    if (binding.revoked) throw revoked();
    return action();
  });
}

function revoked(): Error {
  return Object.assign(new Error('The lease on these files was lost'), { code: 'EIO' });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function baseName(name: string): string {
  return name.startsWith('/') ? name.slice(1) : name;
}

function call(original: SystemCall, ...args: (number | bigint)[]): number {
  return (original as (...args: (number | bigint)[]) => number)(...args);
}
