import assert from 'node:assert/strict';
import fc from 'fast-check';
import { IndexTerms } from '../../../src/core/recall/indexTerms';
import { tokenizeTerms } from '../../../src/core/recall/tokenizeTerms';

describe('terms for the index', () => {
  const terms = new IndexTerms();
  const ofText = (text: string) => terms.ofEntry({ content: { type: 'message', role: 'user', text }, createdAt: 1_763_800_000_000 });

  it('are those of the text, each at most four times, rare ones first', () => {
    const words = fc.constantFrom('harbour', 'gate', 'src', 'dock', '7', 'lantern', '東京', 'ice');
    const dates = new Set(ofText('').split(' '));
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), (said) => {
        const text = said.join(' ');
        const found = ofText(text)
          .split(' ')
          .filter((term) => !dates.has(term));
        const expected = tokenizeTerms(text);
        const times = (list: readonly string[], term: string) => list.filter((one) => one === term).length;
        assert.deepEqual([...new Set(found)].sort(), [...new Set(expected)].sort());
        const groups = [...new Set(found)].map((term) => times(found, term));
        assert.deepEqual(
          groups,
          [...new Set(found)].map((term) => Math.min(4, times(expected, term))),
        );
        assert.deepEqual(
          groups,
          [...groups].sort((a, b) => a - b),
        );
      }),
    );
  });
});
