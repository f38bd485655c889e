import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A disk of its own, small enough to be filled. */
export interface SmallDisk {
  /** Takes whatever room is left. */
  fill(): void;
  /** Gives back what `fill` has taken. */
  free(): void;
  remove(): void;
}

/** Mounts one at a folder that exists; null where this process may not. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk | null {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  const ballast = join(folder, 'ballast');
  const free = () => rmSync(ballast, { force: true });
  return {
    fill: () => {
      const fd = openSync(ballast, 'a');
      try {
        const bytes = new Uint8Array(4096);
        while (writeSync(fd, bytes) === bytes.length);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        closeSync(fd);
      }
    },
    free,
    remove: () => {
      if (existsSync(folder)) execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' });
    },
  };
}
