import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { thisProcess } from '../sharing/processIdentity';
import { selfTest } from './selfTest';
import type { Sqlite } from './sqlite';

/**
 * As `selfTest`, whose outcome depends on the program, on Node and on the file system: where all of them have passed since the
 * machine was started, it is not repeated. It costs six syncs: 40 of the 160 ms until the first page of
 * a 72 MB store.
 */
export function selfTestOnce(sqlite: Sqlite, folder: string): string | null {
  const file = join(folder, 'selftest.json');
  const circumstances = circumstancesOf(folder);
  if (sqlite.unbridged === null && circumstances !== null && circumstances === read(file)) return null;
  const problem = selfTest(sqlite, folder);
  if (problem === null && circumstances !== null) write(file, circumstances);
  return problem;
}

/** Null where the system does not tell one start of the machine from the next. */
function circumstancesOf(folder: string): string | null {
  const { bootId, host } = thisProcess();
  if (bootId === null) return null;
  const [program, place] = [statSync(__filename), statSync(folder, { bigint: true })];
  return JSON.stringify({
    program: [program.size, program.mtimeMs],
    node: process.versions.node,
    machine: [host, bootId],
    folder: [String(place.dev), String(place.ino)],
  });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Not synced: half a record is none. Without one the test is made again. */
function write(file: string, circumstances: string): void {
  try {
    writeFileSync(file, circumstances, { mode: 0o600 });
  } catch {
    // Whether the folder can be written is for the store to find out.
  }
}
