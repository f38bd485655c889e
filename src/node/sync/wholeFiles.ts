import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';

/**
 * Files in a folder into which others write too, and from which they remove: undefined for one that is gone since it was listed. What is no
 * regular file is not there either (a pipe would keep the reader waiting until somebody writes to it), nor is one of more than `most`
 * bytes. Rejects where it cannot be read.
 */
export async function readWhole(file: string, most: number): Promise<Buffer | undefined> {
  try {
    // Another may stand in its place once it is open.
    return isWanted(await stat(file), most) ? await contentOf(file, most) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function contentOf(file: string, most: number): Promise<Buffer | undefined> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!isWanted(found, most)) return undefined;
    const content = Buffer.alloc(found.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < content.length; length += read)
      read = (await handle.read(content, length, content.length - length, length)).bytesRead;
    return content.subarray(0, length);
  } finally {
    await handle.close();
  }
}

function isWanted(found: { isFile(): boolean; readonly size: number }, most: number): boolean {
  return found.isFile() && found.size <= most;
}

/** Under its name there is all of it or nothing, also after a power cut. What somebody has put in the way is not written to. */
export async function writeWhole(file: string, bytes: Uint8Array): Promise<void> {
  const part = `${file}.${randomUUID()}.part`;
  try {
    const handle = await open(part, 'wx', 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** The name of the file that is written under this name. */
export function stemOf(name: string): string {
  return name.replace(/\.[0-9a-f-]{36}\.part$/, '');
}
