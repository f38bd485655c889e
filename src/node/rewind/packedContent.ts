import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** First byte of a blob: how the rest is written. */
const plain = 0;
const deflated = 1;

/**
 * Content of a file as the store keeps it. Compressed here and not in the store: what else it keeps are pictures and texts that other
 * programs find under the hash of their content. The same content gives the same bytes, so that it is kept once.
 */
export function packContent(content: Uint8Array): Buffer {
  const packed = deflateRawSync(content);
  return packed.length < content.length ? Buffer.concat([Buffer.from([deflated]), packed]) : Buffer.concat([Buffer.from([plain]), content]);
}

/** Null when it is not what has been packed: of another hash, or longer than it may be. */
export function unpackContent(blob: Uint8Array, { hash, bytes }: { readonly hash: string; readonly bytes: number }): Buffer | null {
  try {
    const content = blob[0] === deflated ? inflateRawSync(blob.subarray(1), { maxOutputLength: bytes + 1 }) : Buffer.from(blob.subarray(1));
    return blob[0] === deflated || blob[0] === plain ? (contentHash(content) === hash ? content : null) : null;
  } catch {
    return null;
  }
}

export function contentHash(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
