import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ThinkTags, type TaggedPiece } from '../../../src/node/models/answerBlocks';

const rounds = 2_000;

/** What an answer comes to, whatever the pieces it arrives in. */
function split(pieces: readonly string[]): { thinking: string; text: string; order: string } {
  const tags = new ThinkTags();
  const read: TaggedPiece[] = [...pieces.flatMap((piece) => tags.read(piece)), ...tags.end()];
  const of = (type: TaggedPiece['type']) => read.flatMap((piece) => (piece.type === type ? [piece.text] : [])).join('');
  assert.ok(read.every(({ text }) => text !== ''));
  return {
    thinking: of('thinking'),
    text: of('text'),
    order: read
      .map(({ type }) => type[1])
      .join('')
      .replace(/(.)\1+/g, '$1'),
  };
}

/** The same, from the whole text. */
function expected(answer: string): { thinking: string; text: string } {
  const tagged = /^\s*<think>\s*([\s\S]*?)(?:<\/think>\s*([\s\S]*))?$/.exec(answer);
  return tagged ? { thinking: tagged[1]!, text: tagged[2] ?? '' } : { thinking: '', text: answer };
}

describe('thinking between tags', () => {
  it('is told apart from the answer behind it', () => {
    assert.deepEqual(split(['<think>\nWhich port?\n</think>\n\nPort 5173.']), {
      thinking: 'Which port?\n',
      text: 'Port 5173.',
      order: 'he',
    });
    assert.deepEqual(split(['\n<', 'thi', 'nk>a </th', 'ink', '> b']), { thinking: 'a ', text: 'b', order: 'he' });
  });

  it('is none where the model has not thought, or writes about tags', () => {
    assert.deepEqual(split(['<think>\n\n</think>\n\nHi']), { thinking: '', text: 'Hi', order: 'e' });
    assert.deepEqual(split(['The tag <think>x</think> is']), { thinking: '', text: 'The tag <think>x</think> is', order: 'e' });
    assert.deepEqual(split(['<think>a</think>b <think>c</think>']), { thinking: 'a', text: 'b <think>c</think>', order: 'he' });
    assert.deepEqual(split(['<thinker> is', ' no tag']), { thinking: '', text: '<thinker> is no tag', order: 'e' });
  });

  it('loses nothing of an answer that was cut off', () => {
    assert.deepEqual(split(['<think>so far </thi']), { thinking: 'so far </thi', text: '', order: 'h' });
    assert.deepEqual(split([' <thi']), { thinking: '', text: ' <thi', order: 'e' });
  });

  it('comes out the same however the answer is torn into pieces', () => {
    const bits = fc.constantFrom('<think>', '</think>', '<', '</', 'think', '>', ' ', '\n', 'a', 'é', '<think', '/think>');
    fc.assert(
      fc.property(
        fc.array(bits, { maxLength: 14 }),
        fc.boolean(),
        fc.array(fc.nat({ max: 60 }), { maxLength: 12 }),
        (parts, begins, cuts) => {
          const answer = `${begins ? '<think>' : ''}${parts.join('')}`;
          const at = [...new Set(cuts.map((cut) => Math.min(cut, answer.length)))].sort((a, b) => a - b);
          const pieces = [...at, answer.length].map((end, n) => answer.slice(at[n - 1] ?? 0, end));
          const { order, ...found } = split(pieces);
          assert.deepEqual(found, expected(answer));
          assert.match(order, /^h?e?$/);
        },
      ),
      { numRuns: rounds },
    );
  });
});
