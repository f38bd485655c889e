/**
 * Applies the committed frames of a write-ahead log to a copy of the database file, as SQLite's own recovery does. Needed only
 * where the file bridge is unavailable but an earlier run with the bridge ended in a crash: SQLite in memory would not see the
 * log. Format: https://www.sqlite.org/fileformat2.html#walformat
 */
export function applyWal(database: Uint8Array, wal: Uint8Array): Uint8Array {
  const view = new DataView(wal.buffer, wal.byteOffset, wal.byteLength);
  if (wal.length < 32 || (view.getUint32(0) & 0xfffffffe) !== 0x377f0682) return database;
  const littleEndian = (view.getUint32(0) & 1) === 0;
  const pageSize = view.getUint32(8);
  let sum: readonly [number, number] = checksum(view, 0, 24, [0, 0], littleEndian);
  if (pageSize < 512 || !matches(view, 24, sum)) return database;

  let result = database;
  let pending = new Map<number, Uint8Array>();
  const frameSize = 24 + pageSize;
  for (let at = 32; at + frameSize <= wal.length; at += frameSize) {
    // A frame of an earlier round of the log has other salts; a torn one has a wrong sum. Either ends the log.
    if (view.getUint32(at + 8) !== view.getUint32(16) || view.getUint32(at + 12) !== view.getUint32(20)) break;
    sum = checksum(view, at, 8, sum, littleEndian);
    sum = checksum(view, at + 24, pageSize, sum, littleEndian);
    if (!matches(view, at + 16, sum)) break;
    pending.set(view.getUint32(at), wal.subarray(at + 24, at + frameSize));
    const pagesAfterCommit = view.getUint32(at + 4);
    if (pagesAfterCommit === 0) continue;
    result = resize(result, pagesAfterCommit * pageSize, result === database);
    for (const [page, content] of pending) if (page <= pagesAfterCommit) result.set(content, (page - 1) * pageSize);
    pending = new Map();
  }
  return result;
}

function resize(bytes: Uint8Array, length: number, copy: boolean): Uint8Array {
  if (bytes.length === length && !copy) return bytes;
  const resized = new Uint8Array(length);
  resized.set(bytes.subarray(0, length));
  return resized;
}

export function checksum(
  view: DataView,
  from: number,
  length: number,
  seed: readonly [number, number],
  littleEndian: boolean,
): [number, number] {
  let [first, second] = seed;
  for (let at = from; at < from + length; at += 8) {
    first = (first + view.getUint32(at, littleEndian) + second) >>> 0;
    second = (second + view.getUint32(at + 4, littleEndian) + first) >>> 0;
  }
  return [first, second];
}

export function matches(view: DataView, at: number, sum: readonly [number, number]): boolean {
  return view.getUint32(at) === sum[0] && view.getUint32(at + 4) === sum[1];
}
