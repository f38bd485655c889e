import { constants } from 'node:fs';
import { open, truncate } from 'node:fs/promises';
import { english } from '../../core/l10n';
import { identityOf } from './fileTail';

/**
 * Appends in one write behind what is known of the file, and makes it durable. False: the file has grown or is another one, and nothing
 * was written. Rejects as the file system says, and then nothing of it is in the file: part of a line would spoil the next one.
 */
export async function appendLines(file: string, lines: readonly string[], { identity, offset }: { readonly identity: string | null; readonly offset: number }): Promise<boolean> {
  // Not made when it is not there: a transcript without its header would be none.
  const handle = await open(file, constants.O_WRONLY | constants.O_APPEND);
  try {
    const found = await handle.stat();
    if (identityOf(found) !== identity || found.size !== offset) return false;
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const { bytesWritten } = await handle.write(bytes);
    if (bytesWritten < bytes.length) {
      // Not by the handle: Windows lets one that appends do nothing else.
      if ((await handle.stat()).size === offset + bytesWritten) await truncate(file, offset);
      throw new Error(english('Only {0} of {1} bytes could be written; is the disk full?', bytesWritten, bytes.length));
    }
    await handle.datasync();
    return true;
  } finally {
    await handle.close();
  }
}
