import * as z from 'zod/mini';
import type { SealedRecord } from '../../core/sync/sealedRecord';

const magic = Buffer.from('threadkeeper rows 1\n');

const Head = z.object({ device: z.string(), index: z.int(), id: z.string(), version: z.int(), mark: z.int(), bytes: z.int() });

/** Rows in a file: for each a line of JSON that says how many bytes follow it, and these. */
export function encodeRows(rows: readonly SealedRecord[]): Buffer {
  const parts: Uint8Array[] = [magic];
  for (const { sealed, ...head } of rows) parts.push(Buffer.from(`${JSON.stringify({ ...head, bytes: sealed.length })}\n`), sealed);
  return Buffer.concat(parts);
}

/** Throws when it is no such file, or one that was cut off. */
export function decodeRows(content: Buffer): SealedRecord[] {
  if (!content.subarray(0, magic.length).equals(magic)) throw new RangeError('not a file of rows');
  const rows: SealedRecord[] = [];
  for (let at = magic.length; at < content.length; ) {
    const end = content.indexOf(10, at);
    if (end === -1) throw new RangeError('cut off');
    const { bytes, ...head } = Head.parse(JSON.parse(content.toString('utf8', at, end)));
    const sealed = content.subarray(end + 1, end + 1 + bytes);
    if (sealed.length !== bytes) throw new RangeError('cut off');
    rows.push({ ...head, sealed });
    at = end + 1 + bytes;
  }
  return rows;
}
