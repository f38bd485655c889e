import { checksum } from '../../../src/node/store/database/walFrames';

/** A write-ahead log that is sound, with one commit: it writes the first page of an image again, and says that there are so many pages. */
export function walBomb(image: Uint8Array, pagesAfterCommit: number): Buffer {
  const pageSize = Buffer.from(image).readUInt16BE(16);
  const wal = Buffer.alloc(32 + 24 + pageSize);
  const view = new DataView(wal.buffer, wal.byteOffset, wal.length);
  const write = (at: number, numbers: readonly number[]) => numbers.forEach((value, i) => wal.writeUInt32BE(value >>> 0, at + 4 * i));
  write(0, [0x377f0682, 3007000, pageSize, 0, 1, 2]);
  const head = checksum(view, 0, 24, [0, 0], true);
  write(24, head);
  write(32, [1, pagesAfterCommit, 1, 2]);
  wal.set(image.subarray(0, pageSize), 56);
  write(48, checksum(view, 56, pageSize, checksum(view, 32, 8, head, true), true));
  return wal;
}
