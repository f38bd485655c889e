/** A rank file of js-tiktoken: what `js-tiktoken/ranks/<encoding>` exports. */
export interface RankFile {
  readonly pat_str: string;
  readonly bpe_ranks: string;
}

const slotBits = 19;
const slotMask = (1 << slotBits) - 1;

/**
 * Byte sequence → rank, as an open-addressing hash over typed arrays. A `Map` of strings needs about 40 times the time to
 * fill and keeps 200,000 strings alive; this is 6 MB and is filled by one scan over the rank file.
 */
export class RankTable {
  /** No token is longer: longer sequences are not looked up. */
  readonly longest: number;
  private readonly bytes: Uint8Array;
  /** Token i has the bytes from `starts[i]` to `starts[i + 1]` and the rank `ranks[i]`. */
  private readonly starts: Uint32Array;
  private readonly ranks: Uint32Array;
  /** Index of a token plus one; 0 is an empty slot. At most 200,000 of 524,288 are taken. */
  private readonly slots = new Uint32Array(1 << slotBits);

  constructor(file: RankFile) {
    const source = file.bpe_ranks;
    const tokens = countTokens(source);
    if (tokens > slotMask / 2) throw new Error(`The rank file has ${tokens} tokens, more than the table is made for.`);
    this.bytes = new Uint8Array(source.length);
    this.starts = new Uint32Array(tokens + 1);
    this.ranks = new Uint32Array(tokens);
    this.longest = this.fill(source);
  }

  /** The rank of `text[start, end)`, or -1 when that is no token. */
  rank(text: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > this.longest) return -1;
    let slot = hash(text, start, end);
    for (;;) {
      const token = (this.slots[slot] ?? 0) - 1;
      if (token < 0) return -1;
      const from = this.starts[token] ?? 0;
      if ((this.starts[token + 1] ?? 0) - from === length && this.equal(from, text, start, end)) return this.ranks[token] ?? -1;
      slot = (slot + 1) & slotMask;
    }
  }

  private equal(from: number, text: Uint8Array, start: number, end: number): boolean {
    for (let i = start, j = from; i < end; i++, j++) if (text[i] !== this.bytes[j]) return false;
    return true;
  }

  /** Lines of `! <rank of the first token> <base64> <base64> …`; returns the length of the longest token. */
  private fill(source: string): number {
    let token = 0;
    let at = 0;
    let longest = 0;
    for (const line of source.split('\n')) {
      if (line === '') continue;
      const second = line.indexOf(' ') + 1;
      const third = line.indexOf(' ', second) + 1;
      let rank = Number.parseInt(line.slice(second, third), 10);
      for (let i = third; i < line.length; ) {
        const end = line.indexOf(' ', i) < 0 ? line.length : line.indexOf(' ', i);
        const start = at;
        at = decodeBase64(line, i, end, this.bytes, at);
        this.starts[token] = start;
        this.ranks[token] = rank++;
        this.starts[++token] = at;
        this.place(start, at, token);
        longest = Math.max(longest, at - start);
        i = end + 1;
      }
    }
    return longest;
  }

  private place(start: number, end: number, value: number): void {
    let slot = hash(this.bytes, start, end);
    while (this.slots[slot] !== 0) slot = (slot + 1) & slotMask;
    this.slots[slot] = value;
  }
}

/** FNV-1a over the bytes, with the high bits mixed into the slot. */
function hash(bytes: Uint8Array, start: number, end: number): number {
  let h = 0x811c9dc5;
  for (let i = start; i < end; i++) h = Math.imul(h ^ (bytes[i] ?? 0), 0x01000193);
  return (h ^ (h >>> slotBits)) & slotMask;
}

/** Two fields of every line are no tokens. */
function countTokens(source: string): number {
  let spaces = 0;
  for (let i = source.indexOf(' '); i >= 0; i = source.indexOf(' ', i + 1)) spaces++;
  return spaces - source.split('\n').filter(Boolean).length;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const sextets = new Uint8Array(128);
for (let i = 0; i < alphabet.length; i++) sextets[alphabet.charCodeAt(i)] = i;

function decodeBase64(text: string, start: number, end: number, into: Uint8Array, at: number): number {
  let bits = 0;
  let held = 0;
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x3d) break;
    bits = ((bits << 6) | (sextets[code] ?? 0)) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      into[at++] = (bits >> held) & 0xff;
    }
  }
  return at;
}
