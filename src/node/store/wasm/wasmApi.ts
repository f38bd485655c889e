/** The part of `WebAssembly` in use. TypeScript keeps its declaration in the DOM library, which code for Node does not load. */
export type WasmImports = Record<string, Record<string, unknown>>;

export interface WasmMemoryObject {
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
