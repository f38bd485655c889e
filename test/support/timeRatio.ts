/** More tries tell nothing new: what is still above the limit by then takes that long. */
const mostTries = 8;

/**
 * How many times as long `long` takes as `short`, in processor time, of which `short` counts as `leastMs` at least. What the process does
 * beside it (compiling, collecting garbage) makes one measurement long, not every one: above `most` it is measured again.
 */
export async function timeRatio(short: () => unknown, long: () => unknown, most: number, leastMs = 5): Promise<number> {
  let ratio = Infinity;
  for (let tries = 0; tries < mostTries && ratio >= most; tries++) ratio = (await took(long)) / Math.max(leastMs, await took(short));
  return ratio;
}

async function took(run: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}
