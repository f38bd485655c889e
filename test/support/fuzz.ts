import { seededRandom } from './chat/endurance';

/**
 * How long a fuzzer goes on, and with what. `THREADKEEPER_FUZZ_SECONDS` makes every one of them go on for longer than in the suite,
 * `THREADKEEPER_FUZZ_SEED` (1 in the suite) makes it try other inputs.
 */
export function fuzzing(usualSeconds: number): {
  readonly random: () => number;
  readonly seed: number;
  readonly goesOn: () => boolean;
  readonly limitMs: number;
} {
  const seconds = Number(process.env['THREADKEEPER_FUZZ_SECONDS'] ?? usualSeconds);
  const seed = Number(process.env['THREADKEEPER_FUZZ_SEED'] ?? 1);
  const end = performance.now() + seconds * 1_000;
  return { random: seededRandom(seed), seed, goesOn: () => performance.now() < end, limitMs: seconds * 1_000 + 120_000 };
}
