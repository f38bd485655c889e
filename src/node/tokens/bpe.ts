import { RankTable, type RankFile } from './rankTable';

/** Up to here rescanning the list is faster than a heap. Measured break-even: 50 bytes of CJK, 80 of one letter, over 256 of English. */
const scanLimit = 96;

/**
 * Byte pair encoding with js-tiktoken's rank file and pattern and our own merge: the same tokens, but never quadratic.
 * Special tokens are plain text. Lone surrogates count as U+FFFD, as in js-tiktoken.
 */
export class Bpe {
  private readonly table: RankTable;
  private readonly pattern: RegExp;
  private scratch = new Uint8Array(4096);

  constructor(file: RankFile) {
    this.table = new RankTable(file);
    this.pattern = new RegExp(file.pat_str, 'gu');
  }

  count(text: string): number {
    let tokens = 0;
    this.pieces(text, (length) => {
      tokens += this.isToken(length) ? 1 : this.merge(length).length;
    });
    return tokens;
  }

  encode(text: string): number[] {
    const tokens: number[] = [];
    this.pieces(text, (length) => {
      const rank = this.table.rank(this.scratch, 0, length);
      if (rank >= 0) return void tokens.push(rank);
      let start = 0;
      for (const end of this.merge(length)) {
        tokens.push(this.table.rank(this.scratch, start, end));
        start = end;
      }
    });
    return tokens;
  }

  private isToken(length: number): boolean {
    return this.table.rank(this.scratch, 0, length) >= 0;
  }

  /** Ends of the tokens of the piece in `scratch`. */
  private merge(length: number): ArrayLike<number> & Iterable<number> {
    return length <= scanLimit ? mergeWithScan(this.table, this.scratch, length) : mergeWithHeap(this.table, this.scratch, length);
  }

  /** The pattern leaves no character out, so a piece is what lies between two ends of a match. */
  private pieces(text: string, visit: (bytes: number) => void): void {
    this.pattern.lastIndex = 0;
    let start = 0;
    while (start < text.length && this.pattern.test(text)) {
      const end = this.pattern.lastIndex;
      visit(this.load(text, start, end));
      start = end;
    }
  }

  /** Writes the piece as UTF-8 into `scratch`; returns its length in bytes. */
  private load(text: string, start: number, end: number): number {
    if (this.scratch.length < (end - start) * 3) this.scratch = new Uint8Array((end - start) * 4);
    const bytes = this.scratch;
    let at = 0;
    for (let i = start; i < end; i++) {
      let code = text.charCodeAt(i);
      if (code < 0x80) {
        bytes[at++] = code;
        continue;
      }
      if (code >= 0xd800 && code < 0xe000) {
        const low = code < 0xdc00 && i + 1 < end ? text.charCodeAt(i + 1) : 0;
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          i++;
        } else {
          code = 0xfffd;
        }
      }
      if (code < 0x800) {
        bytes[at++] = 0xc0 | (code >> 6);
      } else {
        if (code < 0x10000) {
          bytes[at++] = 0xe0 | (code >> 12);
        } else {
          bytes[at++] = 0xf0 | (code >> 18);
          bytes[at++] = 0x80 | ((code >> 12) & 0x3f);
        }
        bytes[at++] = 0x80 | ((code >> 6) & 0x3f);
      }
      bytes[at++] = 0x80 | (code & 0x3f);
    }
    return at;
  }
}

const none = 0xffffffff;

/** Both functions return the ends of the parts after merging, always the pair of lowest rank first and of equals the leftmost. */
function mergeWithScan(table: RankTable, bytes: Uint8Array, length: number): number[] {
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
function mergeWithHeap(table: RankTable, bytes: Uint8Array, length: number): number[] {
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
