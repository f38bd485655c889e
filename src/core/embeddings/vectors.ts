const largest = 127;

/** Each number in a byte, relative to the largest: of the cosine that is off by less than 0.01, which no ranking notices. */
export function quantised(vector: readonly number[]): number[] {
  const most = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  return vector.map((value) => (most > 0 ? Math.round((value / most) * largest) : 0));
}

/** Vectors of one space in one piece of memory, each with a number. */
export class VectorTable {
  private ids = new Int32Array(0);
  private values = new Int8Array(0);
  private lengths = new Float32Array(0);
  private count = 0;

  constructor(readonly dimensions: number) {}

  /** One of another length is left out: it says nothing here. */
  add(id: number, vector: ArrayLike<number>): void {
    const { dimensions, count } = this;
    if (vector.length !== dimensions) return;
    if (count === this.ids.length) this.grow(Math.max(256, 2 * count));
    this.values.set(vector, count * dimensions);
    this.ids[count] = id;
    this.lengths[count] = lengthOf(vector);
    this.count++;
  }

  /** The cosine of each that `isWanted`, the most similar ones first; at most `most`. */
  nearest(query: readonly number[], most: number, isWanted: (id: number) => boolean): { readonly id: number; readonly cosine: number }[] {
    const { dimensions, values } = this;
    if (query.length !== dimensions) return [];
    const asked = Int8Array.from(query);
    const length = lengthOf(query);
    const found: { id: number; cosine: number }[] = [];
    for (let i = 0; i < this.count; i++) {
      const id = this.ids[i] ?? 0;
      if (!isWanted(id)) continue;
      let dot = 0;
      for (let k = 0, at = i * dimensions; k < dimensions; k++, at++) dot += (asked[k] ?? 0) * (values[at] ?? 0);
      found.push({ id, cosine: dot / (length * (this.lengths[i] ?? 0) || 1) });
    }
    return found.sort((x, y) => y.cosine - x.cosine || y.id - x.id).slice(0, most);
  }

  private grow(capacity: number): void {
    const [ids, values, lengths] = [this.ids, this.values, this.lengths];
    this.ids = new Int32Array(capacity);
    this.values = new Int8Array(capacity * this.dimensions);
    this.lengths = new Float32Array(capacity);
    this.ids.set(ids);
    this.values.set(values);
    this.lengths.set(lengths);
  }
}

function lengthOf(vector: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] ?? 0) ** 2;
  return Math.sqrt(sum);
}

/** So many of the most similar passages count; what is less similar than all of them is similar by chance. */
export const mostMeant = 100;

/** What is nearer to chance than to the best one is not told. */
const leastShare = 0.25;

/**
 * How much each of the most similar passages is meant, 1 for the best, and less the nearer its cosine is to what is similar by chance: the
 * last one's, or where there are few passages the mean. Models differ in the cosine that they give to texts which have nothing in common.
 */
export function meantShares(cosines: readonly number[]): number[] {
  const best = cosines[0] ?? 0;
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, cosines.length);
  const chance = cosines.length < mostMeant ? mean : (cosines.at(-1) ?? 0);
  const shares = cosines.map((cosine) => (best > chance ? (cosine - chance) / (best - chance) : 1));
  return shares.map((share) => (share < leastShare ? 0 : share));
}
