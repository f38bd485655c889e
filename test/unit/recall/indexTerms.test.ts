import assert from 'node:assert/strict';
import fc from 'fast-check';
import { IndexTerms } from '../../../src/core/recall/indexTerms';
import { tokenizeTerms } from '../../../src/core/recall/tokenizeTerms';

describe('terms for the index', () => {
  const terms = new IndexTerms();
  const ofText = (text: string) => terms.ofPassage({ text, at: null })[0] ?? '';

  it('are those of the text, each at most three times, rare ones first', () => {
    const words = fc.constantFrom('harbour', 'gate', 'src', 'dock', '7', 'lantern', '東京', 'ice');
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), (said) => {
        const text = said.join(' ');
        const found = ofText(text).split(' ').filter(Boolean);
        const expected = tokenizeTerms(text);
        const times = (list: readonly string[], term: string) => list.filter((one) => one === term).length;
        assert.deepEqual([...new Set(found)].sort(), [...new Set(expected)].sort());
        const groups = [...new Set(found)].map((term) => times(found, term));
        assert.deepEqual(
          groups,
          [...new Set(found)].map((term) => Math.min(3, times(expected, term))),
        );
        assert.deepEqual(
          groups,
          [...groups].sort((a, b) => a - b),
        );
      }),
    );
  });

  it('stand in the field that they belong to', () => {
    const at = new Date(2026, 10, 20, 12).getTime();
    const fields = terms.ofPassage({ text: 'Mira: The harbour closed last Friday. Who opened the gate?', at, opens: true });
    const [said, asked, dated, named] = fields.map((text) => text.split(' ').filter(Boolean));
    assert.deepEqual({ said, asked, named }, { said: ['harbour', 'close', 'last', 'fridai'], asked: ['open', 'gate'], named: ['mira'] });
    for (const word of ['novemb', 'fridai', '20', '13', '2026']) assert.ok(dated?.includes(word), word);
  });
});
