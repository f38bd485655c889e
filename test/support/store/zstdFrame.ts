const mostBlockBytes = 128 * 1024;

/** A frame of blocks that are stored as they are: what every decoder takes. `claimed`: the size that its header names. */
export function zstdFrame(content: Uint8Array, claimed = content.length): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 0; at === 0 || at < content.length; at += mostBlockBytes) {
    const piece = content.subarray(at, at + mostBlockBytes);
    blocks.push(block(0, piece.length, at + mostBlockBytes >= content.length), Buffer.from(piece));
  }
  return Buffer.concat([head(claimed), ...blocks]);
}

/** A frame of a few bytes that becomes `blocks` times 128 KB. */
export function zstdBomb(blocks: number): Buffer {
  return Buffer.concat([
    head(0),
    ...Array.from({ length: blocks }, (_, i) => Buffer.concat([block(1, mostBlockBytes, i === blocks - 1), Buffer.from('a')])),
  ]);
}

/** In one segment, with the size in four bytes; 0 for one that names none, and a window of 1 MB. */
function head(claimed: number): Buffer {
  const bytes = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  if (claimed === 0) return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 10 << 3]);
  bytes.writeUInt32LE(claimed, 5);
  return bytes;
}

function block(type: 0 | 1, size: number, isLast: boolean): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE((size << 3) | (type << 1) | (isLast ? 1 : 0), 0, 3);
  return bytes;
}
