import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { thisProcess } from '../../../src/node/store/processIdentity';
import { privateFolder } from '../../../src/node/store/readonlyCopy';

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
    const kept = Object.entries(cases).filter(([, folder]) => existsSync(folder)).map(([name]) => name);
    const canTell = thisProcess().startTime !== null;
    assert.deepEqual(kept, [...(canTell ? [] : ['pidInUseByAnother']), 'own', 'ofAnotherContainer', 'ofAnotherMachine', 'justBegun']);
  });
});
