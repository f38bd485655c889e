/** The newest committed content of every page in a log. */
export interface Frames {
  readonly pages: ReadonlyMap<number, Uint8Array>;
  /** Size of the database after the last commit; 0 without one. */
  readonly pageCount: number;
  /** Commits follow a frame that does not add up: not the torn tail that a crash leaves. SQLite would drop them in silence. */
  readonly damaged: boolean;
}

interface Frame {
  readonly page: number;
  readonly pagesAfterCommit: number;
  readonly content: Uint8Array;
  readonly sound: boolean;
}

/**
 * A frame's sum continues the one stored before it, so each frame can be checked against its neighbour even when an earlier one
 * is damaged. A damaged frame with a sound one behind it still counts: a page with a wrong byte beats an outdated page.
 */
export function readFrames(wal: Uint8Array, pageSize: number): Frames {
  const { frames, isHeaderSound } = framesOf(wal, pageSize);
  const firstBad = frames.findIndex((frame) => !frame.sound);
  const prefix = firstBad < 0 ? frames : frames.slice(0, firstBad);
  if (isHeaderSound && firstBad < 0) return { ...commit(prefix), damaged: false };

  const from = isHeaderSound ? firstBad : 0;
  // Behind a torn tail lies at most the rest of the one transaction that nobody was told is safe.
  const firstCommit = frames.findIndex((frame, i) => i >= from && frame.pagesAfterCommit > 0 && isUsable(frames, i));
  const damaged = isHeaderSound ? firstCommit >= 0 && frames.some((frame, i) => i > firstCommit && frame.sound) : firstCommit >= 0;
  return { ...commit(damaged ? frames.filter((_, i) => isUsable(frames, i)) : prefix), damaged };
}

export function applyFrames(database: Uint8Array, { pages, pageCount }: Frames, pageSize: number): Uint8Array {
  // Never shorter than the file: what a damaged count cuts off may still be readable. Never absurdly long either.
  const highest = Math.min(pageCount, Math.floor(database.length / pageSize) + 2 * pages.size + 1);
  const merged = new Uint8Array(Math.max(database.length, highest * pageSize));
  merged.set(database);
  for (const [page, content] of pages) if (page > 0 && page * pageSize <= merged.length) merged.set(content, (page - 1) * pageSize);
  return merged;
}

function isUsable(frames: readonly Frame[], i: number): boolean {
  return frames[i]?.sound === true || frames[i + 1]?.sound === true;
}

function commit(frames: readonly Frame[]): { pages: Map<number, Uint8Array>; pageCount: number } {
  const pages = new Map<number, Uint8Array>();
  let pending = new Map<number, Uint8Array>();
  let pageCount = 0;
  for (const { page, pagesAfterCommit, content } of frames) {
    pending.set(page, content);
    if (pagesAfterCommit === 0) continue;
    for (const [number, bytes] of pending) pages.set(number, bytes);
    pending = new Map();
    pageCount = pagesAfterCommit;
  }
  return { pages, pageCount };
}

function framesOf(wal: Uint8Array, pageSize: number): { frames: Frame[]; isHeaderSound: boolean } {
  const view = new DataView(wal.buffer, wal.byteOffset, wal.byteLength);
  const frameSize = 24 + pageSize;
  const count = Math.max(0, Math.floor((wal.length - 32) / frameSize));
  const isMagic = (view.getUint32(0) & 0xfffffffe) === 0x377f0682 && view.getUint32(8) === pageSize;
  const littleEndian = !isMagic || (view.getUint32(0) & 1) === 0;
  const isHeaderSound = isMagic && matches(view, 24, checksum(view, 0, 24, [0, 0], littleEndian));
  // A damaged header is made up for by the first frame, which repeats its salts.
  const saltsAt = isHeaderSound || count === 0 ? 16 : 40;
  const [salt1, salt2] = [view.getUint32(saltsAt), view.getUint32(saltsAt + 4)];
  const frames = Array.from({ length: count }, (_, i): Frame => {
    const at = 32 + i * frameSize;
    const before = i === 0 ? 24 : at - frameSize + 16;
    const isOurs = view.getUint32(at + 8) === salt1 && view.getUint32(at + 12) === salt2;
    const seed = [view.getUint32(before), view.getUint32(before + 4)] as const;
    // Frames of an earlier round of the log have other salts and are not worth their sum.
    const sound =
      isOurs && matches(view, at + 16, checksum(view, at + 24, pageSize, checksum(view, at, 8, seed, littleEndian), littleEndian));
    return { page: view.getUint32(at), pagesAfterCommit: view.getUint32(at + 4), content: wal.subarray(at + 24, at + frameSize), sound };
  });
  return { frames, isHeaderSound };
}

/** The log says that the database is longer than `applyWal` was allowed to make it. */
export class WalTooLong extends Error {
  override readonly name = 'WalTooLong';
}

/**
 * Applies the committed frames of a write-ahead log to a copy of the database file, as SQLite's own recovery does. Needed only
 * where the file bridge is unavailable but an earlier run with the bridge ended in a crash: SQLite in memory would not see the
 * log. Format: https://www.sqlite.org/fileformat2.html#walformat. Throws `WalTooLong` for more than `most` bytes: a log of some KB can say
 * any length.
 */
export function applyWal(database: Uint8Array, wal: Uint8Array, most = Infinity): Uint8Array {
  const view = new DataView(wal.buffer, wal.byteOffset, wal.byteLength);
  if (wal.length < 32 || (view.getUint32(0) & 0xfffffffe) !== 0x377f0682) return database;
  const littleEndian = (view.getUint32(0) & 1) === 0;
  const pageSize = view.getUint32(8);
  let sum: readonly [number, number] = checksum(view, 0, 24, [0, 0], littleEndian);
  if (!isPageSize(pageSize) || !matches(view, 24, sum)) return database;

  let pageCount = 0;
  const pages = new Map<number, Uint8Array>();
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
    for (const [page, content] of pending) pages.set(page, content);
    [pending, pageCount] = [new Map(), pagesAfterCommit];
  }
  if (pageCount === 0) return database;
  if (pageCount * pageSize > most) throw new WalTooLong(`${pageCount} pages`);
  const result = new Uint8Array(pageCount * pageSize);
  result.set(database.subarray(0, result.length));
  for (const [page, content] of pages) if (page > 0 && page <= pageCount) result.set(content, (page - 1) * pageSize);
  return result;
}

/** The sizes that SQLite has. */
export function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
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
