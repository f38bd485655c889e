import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { ProgramId } from '../../../src/core/transfer/programs';
import { places, type Machine } from '../../../src/node/transfer/watch/places';

/** Every file in which a program keeps sessions, by the places that are watched. */
export function sourcesOf(program: ProgramId, machine: Machine): string[] {
  return places[program](machine).flatMap(({ root, sources }) =>
    filesBelow(root).filter((file) => sources.test(relative(root, file).replaceAll('\\', '/'))),
  );
}

/** Whether a text stands in one of them, or in what a database has not yet taken into its file. */
export function stands(text: string, program: ProgramId, machine: Machine): boolean {
  return sourcesOf(program, machine).some((file) => [file, `${file}-wal`].some((one) => read(one).includes(text)));
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
