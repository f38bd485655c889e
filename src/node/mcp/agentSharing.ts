import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { patientRename } from '../runtime/patientRename';

const Sharing = z.object({ version: z.literal(1), read: z.boolean() });

function fileIn(folder: string): string {
  return join(folder, 'agents.json');
}

/**
 * Whether the user lets other agents read the history in this folder. It stands beside the history, where the command line can see it and
 * no repository can write it. What cannot be read counts as no.
 */
export async function isShared(folder: string): Promise<boolean> {
  try {
    return Sharing.parse(JSON.parse(await readFile(fileIn(folder), 'utf8'))).read;
  } catch {
    return false;
  }
}

/** Holds from the next call of any server on. Rejects with the file system's error. */
export async function setShared(folder: string, read: boolean): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = fileIn(folder);
  const draft = `${file}.${randomUUID()}.tmp`;
  await writeFile(draft, `${JSON.stringify({ version: 1, read } satisfies z.infer<typeof Sharing>)}\n`, { mode: 0o600 });
  await patientRename(draft, file);
}
