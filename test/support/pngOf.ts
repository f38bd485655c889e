/** Bytes that say of themselves that they are a png of this size; behind its header they mean nothing. */
export function pngOf(width: number, height: number, length = 64): Uint8Array {
  const bytes = Uint8Array.from({ length }, (_, n) => n % 251);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, width);
  view.setUint32(20, height);
  return bytes;
}
