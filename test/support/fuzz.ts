import { seededRandom } from './chat/endurance';

/**
 * How long a fuzzer goes on, and with what. In the suite each makes so many tries, the same at every run; `THREADKEEPER_FUZZ_SECONDS` makes
 * every one of them go on for a time instead, `THREADKEEPER_FUZZ_SEED` (1 in the suite) makes it try other inputs.
 */
export function fuzzing(usualTries: number): {
  readonly random: () => number;
  readonly seed: number;
  readonly goesOn: (tried: number) => boolean;
  readonly limitMs: number;
} {
  const chosen = process.env['THREADKEEPER_FUZZ_SECONDS'];
  const seconds = Number(chosen ?? 0);
  const seed = Number(process.env['THREADKEEPER_FUZZ_SEED'] ?? 1);
  const end = performance.now() + seconds * 1_000;
  return {
    random: seededRandom(seed),
    seed,
    goesOn: chosen === undefined ? (tried) => tried < usualTries : () => performance.now() < end,
    limitMs: seconds * 1_000 + 120_000,
  };
}
