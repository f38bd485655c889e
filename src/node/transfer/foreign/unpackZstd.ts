import { decompress } from 'fzstd';

/** None of OpenClaw's own archives has more than half of it (64 MB); a record of more could not be kept anyway (partSize.ts). */
const mostUnpackedBytes = 128 * 1024 * 1024;
/** What zstd's own decoder accepts unless it is told otherwise. */
const mostWindowBytes = 128 * 1024 * 1024;
/** https://www.rfc-editor.org/rfc/rfc8878#section-3.1.1.2.4 */
const mostBlockBytes = 128 * 1024;

/** Any file, however small, may take this much work: about a second. */
const freeWork = 512 * 1024 * 1024;
/** Conversations are packed to a tenth or a twentieth; a few bytes of a made block become 128 KB. */
const workPerByte = 100;
/** Bytes that fzstd moves in the time in which it unpacks one. */
const movedPerByte = 8;

/** What may be unpacked of one source, all its records together. */
export class UnpackBudget {
  private left = freeWork;

  /** False: that would be too much. */
  spend(packedBytes: number, work: number): boolean {
    this.left += packedBytes * workPerByte;
    if (work > this.left) return false;
    this.left -= work;
    return true;
  }
}

/**
 * Null: it would be more than `mostUnpackedBytes` or than the budget has, or says that it would be, and nothing has been unpacked. fzstd
 * takes
 * room for whatever a frame claims, so all frames are walked along their blocks first. Throws for what is damaged.
 */
export function unpackZstd(bytes: Uint8Array, budget: UnpackBudget): Uint8Array | null {
  const work = workOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return work !== null && budget.spend(bytes.length, work) ? decompress(bytes) : null;
}

/**
 * In bytes that are unpacked; null where these are too many. What ends within a frame is left to fzstd, which says so.
 * https://www.rfc-editor.org/rfc/rfc8878#section-3.1
 */
function workOf(bytes: Buffer): number | null {
  let [total, moved] = [0, 0];
  const work = () => total + moved / movedPerByte;
  for (let at = 0; at + 8 <= bytes.length; ) {
    const magic = bytes.readUInt32LE(at);
    if (magic >>> 4 === 0x184d2a5) {
      at += 8 + bytes.readUInt32LE(at + 4);
      continue;
    }
    if (magic !== 0xfd2fb528) return work();
    const flags = bytes[at + 4]!;
    const isSingle = (flags & 0x20) !== 0;
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][flags >> 6]!;
    const sizeAt = at + (isSingle ? 5 : 6) + [0, 1, 2, 4][flags & 3]!;
    if (sizeAt + sizeBytes > bytes.length) return work();
    const claimed =
      sizeBytes === 0
        ? 0
        : sizeBytes === 8
          ? Number(bytes.readBigUInt64LE(sizeAt))
          : bytes.readUIntLE(sizeAt, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
    const exponent = 2 ** (10 + (bytes[at + 5]! >> 3));
    const window = isSingle ? claimed : exponent + (exponent / 8) * (bytes[at + 5]! & 7);
    // fzstd takes exactly this much for the frame, and its blocks, whatever is in them, are written into that.
    const isNamed = isSingle || claimed > 0;
    total += claimed;
    if (total > mostUnpackedBytes || window > mostWindowBytes) return null;
    // Made anew for each frame.
    moved += window;
    at = sizeAt + sizeBytes;
    for (let isLast = false; !isLast; ) {
      if (at + 3 > bytes.length) return work();
      const header = bytes.readUIntLE(at, 3);
      const [type, size] = [(header >> 1) & 3, header >> 3];
      isLast = (header & 1) !== 0;
      at += 3 + (type === 1 ? 1 : size);
      if (!isNamed) {
        total += type === 2 ? mostBlockBytes : size;
        // Behind every block, however small it is, the whole window is moved.
        moved += window;
      }
      if (total > mostUnpackedBytes) return null;
    }
    at += (flags & 4) === 0 ? 0 : 4;
  }
  return work();
}
