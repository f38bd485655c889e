import { deepStrictEqual, ok, rejects, throws } from 'node:assert';
import { CancelledError } from '../../../src/core/errors';
import { lineMatcher } from '../../../src/node/tools/lineMatcher';

describe('lines that match an expression', () => {
  const never = new AbortController().signal;
  /** Takes years. */
  const endless = ['(a+)+$', ['a'.repeat(60) + 'b']] as const;

  it('are found, text after text', async () => {
    const matcher = lineMatcher('^be.a\\b', true, never);
    deepStrictEqual(
      [await matcher.numbers(['alpha', 'BETA one', 'beta']), await matcher.numbers(['none']), await matcher.numbers(['beta'])],
      [[2, 3], [], [1]],
    );
    matcher.dispose();
  });

  it('are found where the machine was busy for longer than a search may take when it began', async () => {
    const matcher = lineMatcher('be.a', false, never);
    const search = matcher.numbers(['alpha', 'beta']);
    // Nothing runs in this thread for 2.5 s, and no answer of the other one is read.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    deepStrictEqual(await search, [2]);
    matcher.dispose();
  });

  it('are looked for while everything else goes on', async () => {
    const matcher = lineMatcher(endless[0], false, never);
    let others = 0;
    const busy = setInterval(() => others++, 5);
    await rejects(matcher.numbers(endless[1]), /takes too long/);
    clearInterval(busy);
    ok(others > 0, 'nothing else ran');
    await rejects(matcher.numbers(['a']), /takes too long/, 'all calls together');
    matcher.dispose();
  });

  it('are not looked for any more when a search took too long, whatever the clock says of it', async () => {
    const matcher = lineMatcher(endless[0], false, never);
    const { now } = performance;
    performance.now = () => 0;
    try {
      await rejects(matcher.numbers(endless[1]), /takes too long/);
    } finally {
      performance.now = now;
    }
    await rejects(matcher.numbers(['a']), /takes too long/);
    matcher.dispose();
  });

  it('are not looked for any more at a stop', async () => {
    const stop = new AbortController();
    const matcher = lineMatcher(endless[0], false, stop.signal);
    const search = matcher.numbers(endless[1]);
    stop.abort();
    await rejects(search, CancelledError);
    await rejects(matcher.numbers(['a']), CancelledError);
  });

  it('need an expression', () => throws(() => lineMatcher('(', false, never), /This is no regular expression/));
});
