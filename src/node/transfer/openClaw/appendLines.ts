import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { english } from '../../../core/l10n';
import { identityOf } from './fileTail';

/**
 * Appends in one write behind what is known of the file, and makes it durable. False: the file has grown or is another one, and nothing
 * was written. Rejects as the file system says. Of a line that did not fit nothing stays: part of one would spoil the next. Lines that are
 * there, but could not be made durable, stay: whoever looks again finds them.
 */
export async function appendLines(
  file: string,
  lines: readonly string[],
  { identity, offset }: { readonly identity: string | null; readonly offset: number },
): Promise<boolean> {
  // The file is not made when it is not there: a transcript without its header would be none.
  const handle = await open(file, constants.O_WRONLY | constants.O_APPEND);
  try {
    const found = await handle.stat();
    if (identityOf(found) !== identity || found.size !== offset) return false;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) {
      if ((await handle.stat()).size === offset + bytesWritten) await takeBack(file, handle, offset);
      throw new Error(english('Only {0} of {1} bytes could be written; is the disk full?', bytesWritten, bytes.length));
    }
    await handle.datasync();
    return true;
  } finally {
    await handle.close();
  }
}

/** It goes by a handle and not by the name, under which the other program may have put another file meanwhile. */
async function takeBack(file: string, appending: FileHandle, size: number): Promise<void> {
  if (process.platform !== 'win32') return appending.truncate(size);
  // Windows lets a handle that appends do nothing else.
  const handle = await open(file, 'r+');
  try {
    if (identityOf(await handle.stat()) === identityOf(await appending.stat())) await handle.truncate(size);
  } finally {
    await handle.close();
  }
}
