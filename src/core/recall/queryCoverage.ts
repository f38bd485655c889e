import { unspacedCharacters } from './tokenizeTerms';

/**
 * How much of a query a set of its terms covers, weighted by how rare each part is. The parts of unspaced text are its characters:
 * its terms overlap, and which of them are words nobody knows.
 */
export class QueryCoverage {
  private readonly parts: readonly (readonly string[])[];

  constructor(terms: readonly string[]) {
    this.parts = terms.map((term) => unspacedCharacters(term) ?? [term]);
  }

  /** Of several sets the largest share, 0 to 1. */
  most(sets: readonly (readonly number[])[], idf: readonly number[]): number {
    if (sets.length === 0) return 0;
    const weights = new Map<string, number>();
    this.parts.forEach((parts, term) => {
      for (const part of parts) weights.set(part, Math.max(weights.get(part) ?? 0, (idf[term] ?? 0) / parts.length));
    });
    const sum = (parts: Iterable<string>) => [...parts].reduce((total, part) => total + (weights.get(part) ?? 0), 0);
    const whole = sum(weights.keys());
    const best = Math.max(...sets.map((terms) => sum(new Set(terms.flatMap((term) => this.parts[term] ?? [])))));
    return whole > 0 ? best / whole : 0;
  }
}
