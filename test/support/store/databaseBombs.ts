import { checksum } from '../../../src/node/store/database/walFrames';

const interiorTable = 5;

/**
 * The bytes of a database in which one tree is made so that SQLite never comes to its end: pages below the root become copies of it that
 * lead to each other. `root`: its number; the tree has to have a root above its leaves.
 */
export function treeBomb(image: Uint8Array, root: number, levels = 8): Uint8Array {
  const bytes = Buffer.from(image);
  const size = bytes.readUInt16BE(16);
  const pageAt = (number: number) => bytes.subarray((number - 1) * size, number * size);
  const begin = (number: number) => (number === 1 ? 100 : 0);
  const childrenOf = (number: number) => {
    const [page, start] = [pageAt(number), begin(number)];
    if (page[start] !== interiorTable) throw new Error('The tree has no page above its leaves');
    const cells = Array.from({ length: page.readUInt16BE(start + 3) }, (_, i) => page.readUInt16BE(start + 12 + 2 * i));
    return { places: [...cells, start + 8], pages: [...cells, start + 8].map((at) => page.readUInt32BE(at)) };
  };
  const { places, pages } = childrenOf(root);
  const chain = [root, ...pages.slice(0, levels)];
  const leaf = pages.at(-1)!;
  const template = Buffer.from(pageAt(root));
  if (root === 1) throw new Error('The first page begins with a header, and cannot be copied');
  for (const [i, number] of chain.entries()) {
    template.copy(pageAt(number));
    for (const at of places) pageAt(number).writeUInt32BE(chain[i + 1] ?? leaf, at);
  }
  return bytes;
}

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
