import type { Json } from '../../../core/base/json';
import { unpackZstd, type UnpackBudget } from './unpackZstd';

/** OpenClaw's rows have these: from 2026.9.6 on they may be compressed. */
export const eventColumns: readonly string[] = ['event_json', 'event_zstd'];

/**
 * What is too large to be decompressed is said to be there, as a record of a kind of its own. Throws what is damaged: rather no import
 * than one with holes.
 */
export function eventText({ event_json: json, event_zstd: compressed }: Json, budget: UnpackBudget): string {
  if (typeof json === 'string') return json;
  if (!(compressed instanceof Uint8Array)) return '';
  const bytes = unpackZstd(compressed, budget);
  return bytes
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
    : JSON.stringify({ type: 'too_large', compressedBytes: compressed.length });
}
