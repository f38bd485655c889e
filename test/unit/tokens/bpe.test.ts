import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { Bpe } from '../../../src/node/tokens/bpe';

describe('byte pair encoding', function () {
  this.timeout(20_000);
  let ours: Bpe;
  let theirs: Tiktoken;

  before(() => {
    ours = new Bpe(o200k);
    theirs = new Tiktoken(o200k);
  });

  const same = (text: string) => {
    const expected = theirs.encode(text, [], []);
    deepEqual(ours.encode(text), expected);
    equal(ours.count(text), expected.length);
  };

  const from = (alphabet: readonly string[], maxLength: number) =>
    fc.array(fc.constantFrom(...alphabet), { maxLength }).map((parts) => parts.join(''));

  const kinds: Record<string, fc.Arbitrary<string>> = {
    ascii: fc.string({ unit: 'binary-ascii', maxLength: 120 }),
    code: from(
      [
        'const ',
        'fooBar',
        '_x1',
        ' = ',
        '=>',
        '();',
        '\n',
        '\n\n',
        '  ',
        '\t',
        '// ',
        "it's",
        '"',
        '{',
        '}',
        '0x1F',
        '3.14',
        'HTTPServer',
        '/src/a.ts',
      ],
      40,
    ),
    CJK: from([...'漢字仮名交じり文의한국어我能吞下玻璃がぎ、。「」・ー', 'ﾊﾝ', ' ', 'A', '9'], 40),
    emoji: from(['👨‍👩‍👧‍👦', '🏳️‍🌈', '👍🏽', '🇩🇪', '\u200d', '\ufe0f', '😀', ' ', 'a'], 25),
    whitespace: from([' ', '  ', '\t', '\r', '\n', '\r\n', '\u00a0', '\u3000', '\u2028', '\v', 'x', '.'], 60),
    surrogates: from(['\ud800', '\udfff', '\udc00', '\ud83d', '\ude00', 'a', ' ', '\n', '漢', '\0'], 40),
    'any code unit': fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((units) => String.fromCharCode(...units)),
    'one letter': fc
      .tuple(fc.constantFrom('a', 'A', 'ก', '漢', '=', '0', ' '), fc.integer({ min: 0, max: 260 }))
      .map(([c, n]) => c.repeat(n)),
    'letters without a break': from([...'etaoinshrdlucmf'], 300),
  };

  for (const [kind, arbitrary] of Object.entries(kinds)) {
    it(`gives the tokens js-tiktoken gives: ${kind}`, () => fc.assert(fc.property(arbitrary, same), { numRuns: 60 }));
  }

  it('reads special tokens as plain text', () => {
    for (const text of ['<|endoftext|>', 'a <|endofprompt|> b', '<|endoftext|><|endoftext|>', '<|endof']) same(text);
    ok(ours.count('<|endoftext|>') > 1);
  });

  it('counts nothing in an empty text', () => deepEqual(ours.encode(''), []));

  it('decodes back: every byte of the text is in exactly one token', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => equal(theirs.decode(ours.encode(text)), text)),
      { numRuns: 60 },
    ));

  // js-tiktoken needs from 5 s (newlines) to 16 minutes (100k identical letters) for these; a quadratic merge fails by the mocha timeout.
  const pathological: [string, string, number][] = [
    ['100,000 identical letters', 'a'.repeat(100_000), 12_500],
    ['100,000 capitals', 'A'.repeat(100_000), 12_500],
    ['50,000 newlines', '\n'.repeat(50_000), 3_125],
    ['100,000 spaces', ' '.repeat(100_000), 782],
    ['100,000 lone surrogates', '\ud800'.repeat(100_000), 12_500],
    ['40,000 NUL', '\0'.repeat(40_000), 20_000],
  ];
  for (const [name, text, tokens] of pathological) it(`completes: ${name}`, () => equal(ours.count(text), tokens));

  it('completes: 200,000 characters without a space, Thai, CJK without punctuation, base64', () => {
    const letters = 'etaoinshrdlu';
    const unbroken = Array.from({ length: 200_000 }, (_, i) => letters[(i * i * 7 + i * 13) % letters.length]).join('');
    const bytes = Buffer.from(Array.from({ length: 150_000 }, (_, i) => ((i * 2654435761) >>> 13) & 255));
    for (const text of [unbroken, 'ภาษาไทย'.repeat(15_000), '漢字仮名'.repeat(15_000), bytes.toString('base64')]) {
      const tokens = ours.count(text);
      ok(tokens > 0 && tokens <= Buffer.byteLength(text));
    }
  });
});
