import { deepEqual, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { stem } from '../../../src/core/recall/stem';
import { fold, queryTerms, substringsOf, tokenizeTerms } from '../../../src/core/recall/tokenizeTerms';

describe('terms of a text', () => {
  const cases: [name: string, text: string, terms: string[]][] = [
    ['stems, and leaves out stop words', 'The servers were running in the data centres', ['server', 'run', 'data', 'centr']],
    ['folds width, case and diacritics', 'Ｃafé CAFÉ cafe\u0301 Straße Łódź', ['cafe', 'cafe', 'cafe', 'strass', 'lodz']],
    [
      'keeps an identifier whole and in parts',
      'parseConfigFile HTTPServer',
      ['parseconfigfil', 'pars', 'config', 'file', 'httpserver', 'http', 'server'],
    ],
    [
      'keeps snake case and dots',
      'max_retry_count process.env',
      ['max', 'retri', 'count', 'max_retry_count', 'process', 'env', 'process.env'],
    ],
    ['keeps a path', '(src/node/store.ts).', ['src', 'node', 'store', 'ts', 'src/node/store.ts']],
    ['keeps a URL', 'see https://example.org/a?b=1,', ['see', 'http', 'exampl', 'org', 'b', '1', 'https://example.org/a?b=1']],
    ['keeps a number with its unit together and apart', '250ms 3.5', ['250ms', '250', 'ms', '3', '5', '3.5']],
    ['makes bigrams of scripts without spaces', '漢字の', ['漢', '漢字', '字', '字の', 'の']],
    ['separates scripts', '設定port', ['設', '設定', '定', 'port']],
    ['has no terms where there are no words', '?! — … \0 \ud800', []],
  ];
  for (const [name, text, terms] of cases) it(name, () => deepEqual(tokenizeTerms(text), terms));

  it('of a query are distinct, with single characters only where they stand alone', () => {
    deepEqual(queryTerms('port ports 漢字の 犬'), ['port', '漢字', '字の', '犬']);
  });

  it('of a text contain those of every word in it, and the substrings find the text', () => {
    const word = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'abcdeiouyrstlnAE12_-./é漢字のกข한국'), minLength: 1, maxLength: 12 }),
      fc.constantFrom('happiness', 'organizations', 'src/a.ts', 'fooBar', 'naïve', 'Ｗｉｄｅ', 'do.it', "'s.a"),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), fc.nat(), (words, pick) => {
        const query = words[pick % Math.max(1, words.length)] ?? '';
        const text = words.join(' ');
        const terms = new Set(tokenizeTerms(text));
        const asked = queryTerms(query);
        const folded = fold(text.normalize('NFKC'));
        // A noun in -y is also asked for by its verb, which the text need not have.
        ok(
          asked.every((term) => terms.has(term) || asked.some((noun) => /^[a-z]{5,}i$/.test(noun) && stem(noun.slice(0, -1)) === term)),
          query,
        );
        ok(asked.length === 0 || substringsOf(asked).some((part) => folded.includes(part)), query);
      }),
      { numRuns: 500 },
    );
  });

  it('survive any code units and come fast from 200,000 characters of anything', () => {
    const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80 }).map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(units, (text) => ok(tokenizeTerms(text).every((term) => term !== ''))),
      { numRuns: 300 },
    );
    for (const part of ['a', 'A', 'aB', '/', '.', 'a/', '_', 'é', '漢', 'ก', '1', '1,', ' ', '\n', '😀'])
      tokenizeTerms(part.repeat(200_000 / part.length));
  });
});
