import { renameSync } from 'node:fs';
import { rename as renameOnce } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What Windows answers while a virus scanner, an indexer or another window has one of the two files open. */
const passing = ['EPERM', 'EACCES', 'EBUSY'];
/** Milliseconds between the attempts, 1.3 s together; what takes longer is no passing look at a file. */
const pauses = [10, 20, 40, 80, 160, 320, 640];

/** What tests put in place of the system's. */
interface System<R> {
  readonly platform?: NodeJS.Platform;
  readonly rename?: (from: string, to: string) => R;
  readonly pause?: (ms: number) => R;
}

/** Renames, over an existing file as well. Rejects with the file system's error; on Windows, once that has stayed the same for a while. */
export async function patientRename(from: string, to: string, system: System<Promise<void>> = {}): Promise<void> {
  const { platform = process.platform, rename = renameOnce, pause = sleep } = system;
  for (const ms of pauses) {
    try {
      return await rename(from, to);
    } catch (error) {
      if (!mayPass(error, platform)) throw error;
    }
    await pause(ms);
  }
  return rename(from, to);
}

/** The same for a thread that may be held up. */
export function patientRenameSync(from: string, to: string, { rename = renameSync, ...system }: System<void> = {}): void {
  patientSync(() => rename(from, to), system);
}

/** Anything else with files that may be done twice, in a thread that may be held up. */
export function patientSync<T>(
  work: () => T,
  { platform = process.platform, pause = block }: Pick<System<void>, 'platform' | 'pause'> = {},
): T {
  for (const ms of pauses) {
    try {
      return work();
    } catch (error) {
      if (!mayPass(error, platform)) throw error;
    }
    pause(ms);
  }
  return work();
}

function mayPass(error: unknown, platform: NodeJS.Platform): boolean {
  return platform === 'win32' && passing.includes((error as NodeJS.ErrnoException).code ?? '');
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
