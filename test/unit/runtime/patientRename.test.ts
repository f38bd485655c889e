import assert from 'node:assert/strict';
import { patientRename, patientRenameSync } from '../../../src/node/runtime/patientRename';

const fault = (code: string) => Object.assign(new Error(code), { code });

describe('a rename', () => {
  /** Each way of renaming, with a file system that first fails so often; what has happened, in order. */
  const ways = {
    'that waits': async (platform: NodeJS.Platform, code: string, failures: number) => {
      const events: (string | number)[] = [];
      const rename = (from: string, to: string) => {
        events.push(`${from} ${to}`);
        return events.filter((event) => typeof event === 'string').length <= failures ? Promise.reject(fault(code)) : Promise.resolve();
      };
      const outcome = await patientRename('a', 'b', { platform, rename, pause: async (ms) => void events.push(ms) }).catch(
        (error: NodeJS.ErrnoException) => error.code,
      );
      return [...events, outcome];
    },
    'that holds its thread up': async (platform: NodeJS.Platform, code: string, failures: number) => {
      const events: (string | number)[] = [];
      const rename = (from: string, to: string) => {
        events.push(`${from} ${to}`);
        if (events.filter((event) => typeof event === 'string').length <= failures) throw fault(code);
      };
      try {
        patientRenameSync('a', 'b', { platform, rename, pause: (ms) => void events.push(ms) });
        return [...events, undefined];
      } catch (error) {
        return [...events, (error as NodeJS.ErrnoException).code];
      }
    },
  };

  it('waits by itself when it is not told how', async () => {
    const failOnce = () => {
      let tries = 0;
      return () => {
        if (++tries === 1) throw fault('EBUSY');
        return tries;
      };
    };
    const [rename, renameSync] = [failOnce(), failOnce()];
    await patientRename('a', 'b', { platform: 'win32', rename: async () => void rename() });
    patientRenameSync('a', 'b', { platform: 'win32', rename: () => void renameSync() });
    assert.deepEqual([rename(), renameSync()], [3, 3]);
  });

  for (const [way, run] of Object.entries(ways)) {
    it(`${way} tries again on Windows, where somebody may be looking at the file`, async () => {
      assert.deepEqual(await run('win32', 'EPERM', 0), ['a b', undefined]);
      for (const code of ['EPERM', 'EACCES', 'EBUSY'])
        assert.deepEqual(await run('win32', code, 2), ['a b', 10, 'a b', 20, 'a b', undefined]);
      const hopeless = await run('win32', 'EBUSY', 99);
      assert.deepEqual([hopeless.filter((event) => event === 'a b').length, hopeless.at(-1)], [8, 'EBUSY']);
    });

    it(`${way} fails at once elsewhere, and of what does not pass`, async () => {
      assert.deepEqual(await run('linux', 'EACCES', 1), ['a b', 'EACCES']);
      assert.deepEqual(await run('darwin', 'EPERM', 1), ['a b', 'EPERM']);
      assert.deepEqual(await run('win32', 'ENOSPC', 1), ['a b', 'ENOSPC']);
    });
  }
});
