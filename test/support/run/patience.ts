import { availableParallelism, getPriority, loadavg } from 'node:os';

/** What tells how long something takes here that takes a second on a quiet machine. */
export interface Pace {
  /** What wanted to run at once, over the last minute; 0 on Windows. */
  readonly load: number;
  readonly processors: number;
  /** Of this process; above 0 it gives way to others. */
  readonly priority: number;
  /** V8's counters (`npm run coverage`) make some programs six times as slow as they are. */
  readonly isCounted: boolean;
}

/** More would only make what hangs hang longer. */
const mostOfLoad = 12;
/** How much more of the processor goes to each of those that do not give way. */
const givenWay = 3;

export function patienceAt({ load, processors, priority, isCounted }: Pace): number {
  const waiting = (load / processors) * (priority > 0 ? givenWay : 1);
  return (isCounted ? 6 : 1) * Math.min(mostOfLoad, Math.max(1, waiting));
}

/**
 * What a time limit of a test, or of what it waits for, is multiplied with. Limits end what hangs, and are for a quiet machine: on a busy
 * one they would end what waits for a processor.
 */
export function patience(): number {
  return patienceAt({
    load: loadavg()[0] ?? 0,
    processors: availableParallelism(),
    priority: getPriority(),
    isCounted: process.env['NODE_V8_COVERAGE'] !== undefined,
  });
}
