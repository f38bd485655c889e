import assert from 'node:assert/strict';
import { CacheWatch, type CacheWatchDeps } from '../../../src/core/compaction/cacheWatch';
import type { SummaryJob } from '../../../src/core/compaction/summary/summaryJob';
import { unknownCache } from '../../../src/core/context/measure/snapshot';
import { silentLog } from '../../support/chat/conversationRig';
import { TestClock } from '../../support/chat/testClock';

const minute = 60_000;

describe('the watch over a prompt cache', () => {
  const clock = new TestClock();
  let isIdle = true;
  let reads = Promise.resolve();
  let until = 0;
  let asked = 0;
  let stored = Promise.resolve();
  const watch = (): CacheWatch => {
    const deps: CacheWatchDeps = {
      clock,
      log: silentLog,
      cache: () => ({ ...unknownCache, state: 'warm', until, whenCold: 'fold', held: 50_000 }),
      isIdle: () => isIdle,
      isOwn: () => true,
      leastTokens: () => 0,
      folds: () => true,
      recall: () => reads,
      readAll: () => Promise.resolve(),
      prepare: () => {
        asked++;
        return { stored, failure: null } as SummaryJob;
      },
      tell: () => undefined,
    };
    return new CacheWatch(deps);
  };
  beforeEach(() => {
    isIdle = true;
    asked = 0;
    reads = stored = Promise.resolve();
    until = clock.now() + 5 * minute;
  });

  it('asks again when something short ran just as the summary was to be asked for', async () => {
    const one = watch();
    let haveRead!: () => void;
    reads = new Promise((resolve) => (haveRead = resolve));
    clock.pass(4.5 * minute);
    one.look();
    isIdle = false;
    haveRead();
    await new Promise(setImmediate);
    assert.equal(asked, 0);
    isIdle = true;
    one.look();
    await new Promise(setImmediate);
    assert.equal(asked, 1);
    one.look();
    await new Promise(setImmediate);
    assert.equal(asked, 1, 'once is enough');
    one.close();
  });

  it('writes no summary any more once storing it has failed', async () => {
    const one = watch();
    stored = Promise.reject(new Error('by script'));
    clock.pass(4.5 * minute);
    one.look();
    await new Promise(setImmediate);
    assert.deepEqual({ asked, askedAt: one.askedAt }, { asked: 1, askedAt: null });
    one.close();
  });
});
