import { deepStrictEqual, strictEqual } from 'node:assert';
import { ReturningWindows } from '../../../../src/node/store/owner/returningWindows';

describe('windows on their way to the next owner', () => {
  it('are awaited until the last has come', async () => {
    const returning = new ReturningWindows(new Set(['a', 'b']));
    const seen: string[] = [];
    const done = returning.done!.then(() => seen.push('done'));
    for (const id of ['a', 'a', 'stranger', undefined]) {
      returning.arrived(id);
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(String(id));
    }
    returning.arrived('b');
    await done;
    deepStrictEqual(seen, ['a', 'a', 'stranger', 'undefined', 'done']);
  });

  it('are awaited for a while where they have ended, or are not known', async () => {
    await Promise.all([new ReturningWindows(new Set(['ended'])).done, new ReturningWindows(null).done]);
  });

  it('need no wait where there were none', () => {
    strictEqual(new ReturningWindows(new Set()).done, null);
  });
});
