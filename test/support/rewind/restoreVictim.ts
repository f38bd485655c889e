import { realDisk, type RestoreDisk } from '../../../src/node/rewind/restoreDisk';
import { restoreFiles } from '../../../src/node/rewind/restoreFiles';
import { sampleRestore } from './sampleTree';

const [root, storage, seed, dieAt] = process.argv.slice(2) as [string, string, string, string];

/** A process that restores a tree until it dies by its own hand: before a given call to the disk. */
void restoreFiles(sampleRestore(root, Number(seed)).restores, { storage, disk: dyingDisk(Number(dieAt)) });

function dyingDisk(last: number): RestoreDisk {
  let calls = 0;
  const dying =
    (name: keyof RestoreDisk) =>
    (...args: unknown[]) => {
      if (++calls === last) process.kill(process.pid, 'SIGKILL');
      return (realDisk[name] as (...all: unknown[]) => unknown)(...args);
    };
  return Object.fromEntries((Object.keys(realDisk) as (keyof RestoreDisk)[]).map((name) => [name, dying(name)])) as unknown as RestoreDisk;
}
