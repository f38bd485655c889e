import assert from 'node:assert/strict';
import { Failover } from '../../../../src/core/compaction/summary/summaryJob';
import type { Summarizer } from '../../../../src/core/ports';
import { TestClock } from '../../../support/chat/testClock';

const summarizer = (model: string): Summarizer => ({
  provider: 'scripted',
  model,
  contextTokens: 1_000,
  summarize: async () => Promise.reject(new Error('not asked')),
});

describe('failover', () => {
  it('asks one that failed n times in a row last, until it succeeds or the time is over', () => {
    const clock = new TestClock();
    const failover = new Failover(clock);
    const [a, b] = [summarizer('a'), summarizer('b')];
    const rule = { failureThreshold: 3, resetMinutes: 30 };
    const order = () =>
      failover
        .order([a, b], rule)
        .map(({ model }) => model)
        .join('');
    for (let i = 0; i < 2; i++) failover.failed(a);
    assert.equal(order(), 'ab');
    failover.failed(a);
    assert.equal(order(), 'ba');
    clock.pass(30 * 60_000 - 1);
    assert.equal(order(), 'ba');
    clock.pass(1);
    assert.equal(order(), 'ab');
    failover.failed(a);
    assert.equal(order(), 'ba');
    failover.succeeded(a);
    assert.equal(order(), 'ab');
    for (let i = 0; i < 3; i++) failover.failed(a);
    for (let i = 0; i < 3; i++) failover.failed(b);
    assert.equal(order(), 'ab', 'all of them are last: the order of the policy');
  });
});
