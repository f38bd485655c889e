/**
 * How long a fixed piece of work takes now, in milliseconds: the median of 15. It makes, sorts, writes and parses the same 20,000 small
 * objects each time, since what is measured here is bound by memory as much as by arithmetic. Beside a table it tells what the machine
 * was worth while that was measured: times of two tables compare only as far as these do.
 */
export function yardstick(): number {
  const times = Array.from({ length: 15 }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  return times.sort((a, b) => a - b)[7]!;
}

function work(): void {
  let seed = 1;
  const made = Array.from({ length: 20_000 }, (_, index) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return { index, key: seed, text: `entry ${seed.toString(36)} of ${index}` };
  });
  made.sort((a, b) => a.key - b.key);
  const read = JSON.parse(JSON.stringify(made)) as typeof made;
  if (read.length !== made.length) throw new Error('What was written was not read again.');
}
