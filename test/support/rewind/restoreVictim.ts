import { join } from 'node:path';
import { realDisk, type RestoreDisk } from '../../../src/node/rewind/restoreDisk';
import { restoreFiles } from '../../../src/node/rewind/restoreFiles';
import { sampleRestore } from './sampleTree';

const [root, storage, seed, dieAt] = process.argv.slice(2) as [string, string, string, string];

const told = join(storage, 'told');
const disk = dyingDisk(Number(dieAt));

/**
 * A process that restores a tree until it dies by its own hand: before a given call to the disk; zero and less: that many behind the one
 * that records the restore, in the file `told`.
 */
void restoreFiles(sampleRestore(root, Number(seed)).restores, {
  storage,
  disk,
  record: { mark: 'mark', append: () => disk.writeNew(told, Buffer.alloc(0), 0o600) },
});

function dyingDisk(last: number): RestoreDisk {
  let calls = last > 0 ? 0 : -Infinity;
  const dying =
    (name: keyof RestoreDisk) =>
    (...args: unknown[]) => {
      if (args[0] === told && last <= 0) calls = 2 * last - 1;
      if (++calls === last) process.kill(process.pid, 'SIGKILL');
      return (realDisk[name] as (...all: unknown[]) => unknown)(...args);
    };
  return Object.fromEntries((Object.keys(realDisk) as (keyof RestoreDisk)[]).map((name) => [name, dying(name)])) as unknown as RestoreDisk;
}
