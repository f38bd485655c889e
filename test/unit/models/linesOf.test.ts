import assert from 'node:assert/strict';
import { linesOf, longestLine } from '../../../src/node/models/linesOf';
import { timeRatio } from '../../support/timeRatio';

describe('lines of a streamed answer', () => {
  async function read(pieces: Iterable<string | Uint8Array>): Promise<string[]> {
    const bytes = async function* () {
      for (const piece of pieces) yield typeof piece === 'string' ? new TextEncoder().encode(piece) : piece;
    };
    const lines: string[] = [];
    for await (const line of linesOf(bytes(), () => undefined)) lines.push(line);
    return lines;
  }

  it('come as they are, wherever the pieces are cut', async () => {
    const text = 'data: 漢字\n\ndata: b\n\n\ndata: [DONE]';
    for (const size of [1, 2, 3, 7, 100]) {
      const all = new TextEncoder().encode(text);
      const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.subarray(i * size, (i + 1) * size));
      assert.deepEqual(await read(pieces), text.split('\n'), `pieces of ${size}`);
    }
    assert.deepEqual([await read([]), await read(['a\n']), await read(['\n', 'a'])], [[], ['a'], ['', 'a']]);
  });

  it('take time in proportion to their length, also one in many pieces', async () => {
    const readOf = (pieces: number) => () => read(Array.from({ length: pieces }, () => 'x'.repeat(1_000)));
    // A quadratic reader takes thirty-six times as long.
    const ratio = await timeRatio(readOf(2_000), readOf(12_000), 18);
    assert.ok(ratio < 18, `six times as much took ${ratio.toFixed(0)} times as long`);
  });

  it('are not collected without end', async () => {
    const endless = function* () {
      for (;;) yield 'x'.repeat(1024 * 1024);
    };
    await assert.rejects(read(endless()), new RegExp(`more than ${longestLine.toLocaleString('en')}|more than ${longestLine}`));
  });
});
