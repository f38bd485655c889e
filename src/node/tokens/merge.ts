import type { RankTable } from './rankTable';

const none = 0xffffffff;

/** Both functions return the ends of the parts after merging, always the pair of lowest rank first and of equals the leftmost. */
export function mergeWithScan(table: RankTable, bytes: Uint8Array, length: number): number[] {
  const ends: number[] = [];
  /** Rank of part i joined with part i + 1. */
  const ranks: number[] = [];
  for (let i = 0; i < length; i++) {
    ends.push(i + 1);
    ranks.push(i + 2 <= length ? joined(table, bytes, i, i + 2) : none);
  }
  for (;;) {
    let best = none;
    let at = 0;
    for (let i = 0; i < ranks.length; i++) {
      const rank = ranks[i] ?? none;
      if (rank < best) {
        best = rank;
        at = i;
      }
    }
    if (best === none) return ends;
    ends.splice(at, 1);
    ranks.splice(at + 1, 1);
    const start = at === 0 ? 0 : (ends[at - 1] ?? 0);
    const next = ends[at + 1];
    ranks[at] = next === undefined ? none : joined(table, bytes, start, next);
    if (at > 0) ranks[at - 1] = joined(table, bytes, at === 1 ? 0 : (ends[at - 2] ?? 0), ends[at] ?? 0);
  }
}

/**
 * O(n log n) for pieces without a break, however long. A part is known by its first byte; the heap holds `rank * n + part` and
 * entries whose rank is no longer that of the part are skipped when they come up.
 */
export function mergeWithHeap(table: RankTable, bytes: Uint8Array, length: number): number[] {
  const next = new Int32Array(length + 1);
  const previous = new Int32Array(length + 1);
  const ranks = new Uint32Array(length);
  const heap = new MinHeap(length);
  for (let i = 0; i <= length; i++) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  const update = (part: number) => {
    const middle = next[part] ?? length;
    const rank = middle >= length ? none : joined(table, bytes, part, next[middle] ?? length);
    ranks[part] = rank;
    if (rank !== none) heap.push(rank * length + part);
  };
  for (let i = 0; i < length; i++) update(i);
  for (let key = heap.pop(); key >= 0; key = heap.pop()) {
    const part = key % length;
    if (ranks[part] !== (key - part) / length) continue;
    const gone = next[part] ?? length;
    const after = next[gone] ?? length;
    next[part] = after;
    previous[after] = part;
    ranks[gone] = none;
    update(part);
    const before = previous[part] ?? -1;
    if (before >= 0) update(before);
  }
  const ends: number[] = [];
  for (let part = 0; part < length; part = next[part] ?? length) ends.push(next[part] ?? length);
  return ends;
}

function joined(table: RankTable, bytes: Uint8Array, start: number, end: number): number {
  const rank = table.rank(bytes, start, end);
  return rank < 0 ? none : rank;
}

class MinHeap {
  private keys: Float64Array;
  private size = 0;

  constructor(capacity: number) {
    this.keys = new Float64Array(capacity);
  }

  push(key: number): void {
    if (this.size === this.keys.length) {
      const larger = new Float64Array(this.size * 2);
      larger.set(this.keys);
      this.keys = larger;
    }
    const keys = this.keys;
    let at = this.size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = keys[parent] ?? 0;
      if (above <= key) break;
      keys[at] = above;
      at = parent;
    }
    keys[at] = key;
  }

  /** The smallest key, or -1 when there is none. */
  pop(): number {
    if (this.size === 0) return -1;
    const keys = this.keys;
    const top = keys[0] ?? -1;
    const last = keys[--this.size] ?? 0;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= this.size) break;
      if (child + 1 < this.size && (keys[child + 1] ?? 0) < (keys[child] ?? 0)) child++;
      if ((keys[child] ?? 0) >= last) break;
      keys[at] = keys[child] ?? 0;
      at = child;
    }
    keys[at] = last;
    return top;
  }
}
