import { programs, type ProgramId } from '../../../core/transfer/programs';
import { places, type Machine } from './places';
import { scanPlace } from './scanPlace';

/** A program that keeps sessions on this machine. */
export interface FoundProgram {
  readonly id: ProgramId;
  /** Files and databases. */
  readonly sources: number;
  readonly bytes: number;
  /** When something was last written, in milliseconds. */
  readonly newest: number;
  /** The folders that they lie in. */
  readonly roots: readonly string[];
}

/** Finds the programs that have left anything, by name, size and time alone: nothing is opened. Never rejects. */
export async function findPrograms(machine: Machine): Promise<FoundProgram[]> {
  const found: FoundProgram[] = [];
  for (const { id } of programs) {
    const scans = await Promise.all(places[id](machine).map(async (place) => ({ place, scanned: await scanPlace(place) })));
    const sources = scans.flatMap(({ scanned }) => scanned.sources);
    if (sources.length === 0) continue;
    found.push({
      id,
      sources: sources.length,
      bytes: sources.reduce((sum, { size }) => sum + size, 0),
      newest: sources.reduce((newest, { mtimeMs }) => Math.max(newest, mtimeMs), 0),
      roots: scans.filter(({ scanned }) => scanned.sources.length > 0).map(({ place }) => place.root),
    });
  }
  return found;
}
