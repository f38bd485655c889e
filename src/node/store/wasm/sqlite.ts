import { createHash } from 'node:crypto';
import nodeFs, { readFileSync } from 'node:fs';
import initSqlJs from 'sql.js';
import type { Database } from 'sql.js';
import { FileBridge } from './fileBridge';
import type { Binding, BridgeFs, DatabaseFiles, ImportNames } from './fileBridge';
import { VirtualFiles, type ByteSource } from './virtualFiles';
import { wasm, type WasmImports, type WasmInstance } from './wasmMemory';

/** Written into the bundle by the build step (wasmImports.mjs), which has proven it for the wasm file with this hash. */
declare const SQLJS_WASM: { readonly sha256: string; readonly names: ImportNames } | undefined;

/** SQLite, initialised once per thread. */
export interface Sqlite {
  /** Why real files cannot be served; null when they can. */
  readonly unbridged: string | null;
  /** Throws when `unbridged`, or whatever SQLite says. Nothing is read from the file yet. */
  openFiles(files: DatabaseFiles): { database: Database; binding: Binding };
  openMemory(content?: Uint8Array): Database;
  /** Opens it for reading, in the format of a database without a log. Throws when `unbridged`, or whatever SQLite says. */
  openSource(source: ByteSource): { database: Database; binding: Binding };
  /** After `database.close()`, or instead of it when that failed. */
  release(binding: Binding): void;
}

let loaded: Promise<Sqlite> | undefined;

/**
 * Loads SQLite with the file bridge around it. sql.js initialises once per module and ignores the configuration of a second
 * call; so does this. Rejects when the wasm file cannot be read or run at all; when it is merely not the one whose imports
 * were proven, SQLite is loaded without the bridge and `unbridged` says so.
 */
export function loadSqlite(wasmFile: string, fs?: BridgeFs): Promise<Sqlite> {
  loaded ??= load(wasmFile, fs);
  return loaded;
}

async function load(wasmFile: string, fs: BridgeFs | undefined): Promise<Sqlite> {
  const bytes = readFileSync(wasmFile);
  const proven = typeof SQLJS_WASM === 'undefined' ? undefined : SQLJS_WASM;
  const virtual = new VirtualFiles(fs ?? nodeFs);
  const bridge = new FileBridge(virtual.fs);
  let unbridged: string | null = null;
  if (!proven) unbridged = 'the build did not prove the imports of the wasm file';
  else if (createHash('sha256').update(bytes).digest('hex') !== proven.sha256)
    unbridged = 'the wasm file is not the one the build has proven';

  const module = await wasm.compile(bytes);
  const sql = await new Promise<Awaited<ReturnType<typeof initSqlJs>>>((resolve, reject) => {
    const instantiateWasm = (imports: WasmImports, done: (instance: WasmInstance) => void) => {
      try {
        const wrapped = unbridged === null && proven ? bridge.wrap(imports, proven.names) : undefined;
        if (!wrapped) unbridged ??= 'a system call is missing from the import object';
        const instance = new wasm.Instance(module, wrapped ?? imports);
        const memory = Object.values(instance.exports).find((value) => value instanceof wasm.Memory);
        if (memory instanceof wasm.Memory) bridge.memory.attach(memory);
        else unbridged ??= 'the module does not export its memory';
        done(instance);
      } catch (error) {
        // Thrown here it would be logged and the initialisation would hang.
        reject(error instanceof Error ? error : new Error(String(error)));
      }
      return {};
    };
    initSqlJs({ instantiateWasm }).then(resolve, reject);
  });

  const openFiles = (files: DatabaseFiles) => {
    if (unbridged !== null) throw new Error(unbridged);
    const binding = bridge.bindNext(files);
    try {
      // The empty array makes sql.js create an in-memory node of the same name, which its close() unlinks.
      const database = new sql.Database(new Uint8Array(0));
      if (!bridge.isServing(binding)) throw new Error('SQLite has not opened the file through the bridge');
      return { database, binding };
    } catch (error) {
      bridge.release(binding);
      throw binding.lastError ?? error;
    }
  };
  return {
    unbridged,
    openFiles,
    openMemory: (content) => new sql.Database(content),
    openSource(source) {
      const main = virtual.add(source);
      try {
        return openFiles({ main, wal: `${main}-wal`, journal: `${main}-journal` });
      } catch (error) {
        virtual.remove(main);
        throw error;
      }
    },
    release(binding) {
      bridge.release(binding);
      virtual.remove(binding.files.main);
    },
  };
}
