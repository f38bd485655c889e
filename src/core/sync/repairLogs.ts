import type { EngineHead, LogRange, SyncEngine } from './syncEngine';
import type { Held, SyncReplica } from './syncReplica';

/** Ranges into which one is cut to find a hole in it: a log of a million rows takes five questions. */
const cuts = 16;

/** Whether the engine's log says something else than the rows that are held here, at its last row. */
export async function isForked(replica: SyncReplica, head: EngineHead, heldNext: number): Promise<boolean> {
  if (head.next > heldNext) return true;
  if (head.next === 0) return false;
  const [row] = await replica.rows({ device: head.device, from: head.next - 1, to: head.next });
  return row?.mark !== head.mark;
}

/** The first index at which they differ. Marks are chained: where they agree, so does everything before. */
export async function forkPoint(replica: SyncReplica, engine: SyncEngine, device: string, end: number): Promise<number> {
  let same = 0;
  let different = end;
  while (same < different) {
    const middle = Math.floor((same + different) / 2);
    const range = { device, from: middle, to: middle + 1 };
    const [there] = await engine.pull(range);
    const [here] = await replica.rows(range);
    if (there !== undefined && here !== undefined && there.mark === here.mark) same = middle + 1;
    else different = middle;
  }
  return same;
}

/** Gives the engine rows that it has lost, whoever wrote them, as far as they are held here. Returns how many. */
export async function refill(
  heads: readonly EngineHead[],
  held: Held,
  engine: SyncEngine,
  push: (range: LogRange) => Promise<number>,
): Promise<number> {
  let refilled = 0;
  for (const { device, next } of held.logs) {
    const head = heads.find((one) => one.device === device) ?? { device, next: 0, count: 0, mark: 0 };
    const end = Math.min(head.next, next);
    // What is at the end of the own log is on its way anyway; another's is lost.
    if (head.next < next && device !== held.device) refilled += await push({ device, from: head.next, to: next });
    if (head.count >= head.next) continue;
    for (const hole of await holesOf(engine, { device, from: 0, to: end })) refilled += await push(hole);
  }
  return refilled;
}

async function holesOf(engine: SyncEngine, whole: LogRange): Promise<readonly LogRange[]> {
  const holes: LogRange[] = [];
  let ranges: readonly LogRange[] = [whole];
  while (ranges.length > 0) {
    const found = await engine.counts(ranges);
    const broken = ranges.filter(({ from, to }, index) => (found[index] ?? 0) < to - from);
    const empty = broken.filter((range) => found[ranges.indexOf(range)] === 0);
    holes.push(...empty);
    ranges = broken.filter((range) => !empty.includes(range)).flatMap(cut);
  }
  return holes;
}

function cut({ device, from, to }: LogRange): readonly LogRange[] {
  const step = Math.max(1, Math.ceil((to - from) / cuts));
  const parts: LogRange[] = [];
  for (let at = from; at < to; at += step) parts.push({ device, from: at, to: Math.min(to, at + step) });
  return parts;
}
