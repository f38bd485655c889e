import { createHash } from 'node:crypto';
import type { SessionStore } from '../../../src/core/ports';

/** Blobs of a store, kept in memory, each once; what they take. */
export function memoryBlobs(): Pick<SessionStore, 'putBlob' | 'blob'> & { readonly bytes: number; forget(): void } {
  const blobs = new Map<string, Uint8Array>();
  return {
    get bytes() {
      return [...blobs.values()].reduce((sum, { length }) => sum + length, 0);
    },
    putBlob: async (bytes) => {
      const hash = createHash('sha256').update(bytes).digest('hex');
      blobs.set(hash, Uint8Array.from(bytes));
      return hash;
    },
    blob: async (hash) => blobs.get(hash),
    forget: () => blobs.clear(),
  };
}
