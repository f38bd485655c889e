import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisProcess } from '../../../../src/node/store/sharing/processIdentity';
import { privateFolder, storeVersion } from '../../../../src/node/store/copies/readonlyCopy';

describe('store: private copies that were left behind', () => {
  const made: string[] = [];
  afterEach(() => made.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

  const left = (owner: object | null, ageMs = 0): string => {
    const folder = mkdtempSync(join(tmpdir(), `threadkeeper-copy-${process.ppid}-`));
    made.push(folder);
    if (owner) writeFileSync(join(folder, 'process.json'), JSON.stringify({ ...thisProcess(), ...owner }));
    const at = (Date.now() - ageMs) / 1_000;
    utimesSync(folder, at, at);
    return folder;
  };

  it('are removed when their process has ended, whoever has its pid now, and kept when nobody can tell', () => {
    const dayMs = 24 * 3_600_000;
    const cases = {
      pidInUseByAnother: left({ pid: process.ppid, startTime: 'another' }),
      ended: left({ pid: 2 ** 22 + 1 }),
      own: left({}),
      ofAnotherContainer: left({ pid: 2 ** 22 + 1, pidNamespace: 'pid:[1]' }),
      ofAnotherMachine: left({ host: 'elsewhere', bootId: 'b' }, 30 * dayMs),
      justBegun: left(null),
      ofAnOlderProgram: left(null, 2 * dayMs),
    };
    made.push(privateFolder());
    const kept = Object.entries(cases)
      .filter(([, folder]) => existsSync(folder))
      .map(([name]) => name);
    const canTell = thisProcess().startTime !== null;
    assert.deepEqual(kept, [...(canTell ? [] : ['pidInUseByAnother']), 'own', 'ofAnotherContainer', 'ofAnotherMachine', 'justBegun']);
  });
});

describe('store: what tells one state of a store from another', () => {
  it('never stands still while FAT could hide a second commit behind the time of the first', () => {
    const folder = mkdtempSync(join(tmpdir(), 'threadkeeper-version-'));
    try {
      const files = { main: join(folder, 'main.db'), wal: join(folder, 'main.db-wal'), journal: join(folder, 'main.db-journal') };
      for (const file of [files.main, files.wal]) writeFileSync(file, 'content');
      const at = (wal: number) => {
        utimesSync(files.main, 1_000_000_000, 1_000_000_000);
        utimesSync(files.wal, wal, wal);
        return storeVersion(files) === storeVersion(files);
      };
      // The next one: with the time between here and there it stays within two seconds.
      const tick = Math.ceil(Date.now() / 2_000) * 2;
      assert.deepEqual([at(tick), at(tick - 4), at(tick + 0.37), at(tick - 1)], [false, true, true, true]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
