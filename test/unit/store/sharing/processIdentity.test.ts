import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { livenessOf, startTime, thisProcess } from '../../../../src/node/store/sharing/processIdentity';

describe('store: what tells one process from another', () => {
  const { TZ, LC_ALL } = process.env;
  afterEach(() => {
    for (const [name, value] of Object.entries({ TZ, LC_ALL })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  /** `ps` is given up after 2 s, too soon for it on a machine that is busy enough. */
  const toldInTime = (tries = 20): string | null => startTime(process.pid, 'darwin') ?? (tries > 1 ? toldInTime(tries - 1) : null);

  it('is the same in every time zone and language, where ps tells it', function () {
    if (!existsSync('/bin/ps')) return this.skip();
    const told = [
      ['UTC', 'C'],
      ['Asia/Tokyo', 'C'],
      ['America/Lima', 'de_DE.UTF-8'],
    ].map(([zone, language]) => {
      Object.assign(process.env, { TZ: zone, LC_ALL: language });
      return toldInTime();
    });
    assert.match(told[0]!, /\d\d:\d\d:\d\d/);
    assert.deepEqual([...new Set(told)], [told[0]]);
  });

  it('is known to have ended with the machine, and else may be there, where the system tells neither its own start nor a process’s', () => {
    const me = { ...thisProcess(), bootId: null, startTime: null };
    const other = { ...me, pid: process.ppid };
    assert.deepEqual(
      [livenessOf(other, 0, me), livenessOf(other, Date.now(), me), livenessOf({ ...other, pid: 2 ** 22 + 1 }, Date.now(), me)],
      ['dead', 'there', 'dead'],
    );
    assert.deepEqual(
      [livenessOf({ ...other, bootId: 'then' }, 0, me), livenessOf({ ...other, host: 'elsewhere' }, 0, me)],
      ['dead', 'unknown'],
    );
  });

  it('differs for one that has ended', function () {
    if (process.platform === 'win32') return this.skip();
    assert.notEqual(startTime(process.pid), null);
    assert.equal(startTime(2 ** 22 + 1), null);
  });
});
