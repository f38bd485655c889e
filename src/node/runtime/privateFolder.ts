import { chmod, mkdir } from 'node:fs/promises';

/**
 * Makes a folder that only the user can enter, and makes one that is there such a folder: older versions made them for everybody. Only for
 * folders that are the program's own; one that a user has named may be shared. Windows has no modes: there the folder above decides.
 * Rejects with the file system's error when the folder cannot be made.
 */
export async function privateFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Somebody else's, or a file system without modes: nothing is lost by leaving it.
  await chmod(folder, 0o700).catch(() => undefined);
}
