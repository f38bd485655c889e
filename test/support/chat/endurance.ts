/**
 * How many rounds a test of endurance goes: `usual` in the suite; `THREADKEEPER_ROUNDS` sets it for a long run (500 is what the
 * store has to stand).
 */
export function enduranceRounds(usual: number): number {
  return Number(process.env['THREADKEEPER_ROUNDS'] ?? usual);
}

/** The same numbers at every run. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}
