import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { extractIdentifiers } from '../../../../src/core/compaction/measure/identifiers';

const found = (text: string) => extractIdentifiers(text).map(({ kind, text: identifier }) => `${kind} ${identifier}`);

describe('identifiers of a text', () => {
  const cases: [name: string, text: string, identifiers: string[]][] = [
    [
      'URLs without the punctuation around them',
      'See (https://example.org/a?b=1&c=2), or wss://x.test/y.',
      ['url https://example.org/a?b=1&c=2', 'url wss://x.test/y'],
    ],
    [
      'paths of every system, with line numbers',
      'src/node/store.ts:42 ./rel/path ~/notes C:\\Users\\kim\\a.txt /etc/hosts package.json .eslintrc docs/plan and/or on/off',
      [
        'path src/node/store.ts:42',
        'path ./rel/path',
        'path ~/notes',
        'path C:\\Users\\kim\\a.txt',
        'path /etc/hosts',
        'path package.json',
        'path .eslintrc',
        'path docs/plan',
      ],
    ],
    [
      'symbols, calls, flags and constants',
      'call parseConfig() or run() with max_retry and HTTPServer, MAX_SIZE, process.exit, Foo::bar, --dry-run',
      [
        'code parseConfig',
        'code run',
        'code max_retry',
        'code HTTPServer',
        'code MAX_SIZE',
        'code process.exit',
        'code Foo::bar',
        'code --dry-run',
      ],
    ],
    [
      'versions, hashes, ids, issues and packages',
      'v1.2.3-beta.1 9f8e7d6 0198c2d4-1111-7abc-8def-0123456789ab #1234 @scope/pkg kim@example.org utf8',
      [
        'code v1.2.3-beta.1',
        'code 9f8e7d6',
        'code 0198c2d4-1111-7abc-8def-0123456789ab',
        'code #1234',
        'code @scope/pkg',
        'code kim@example.org',
        'code utf8',
      ],
    ],
    [
      'what stands in backticks',
      'Use `npm run build`, `foo`, `id` and `src/a.ts`.',
      ['code npm run build', 'code foo', 'code id', 'path src/a.ts'],
    ],
    [
      'numbers with their units',
      'about 250 ms, 3.5%, $1,200.50, 8,192 tokens, 12MB, 5 seconds, 2026-11-20 at 14:03, port 54329, but not 5',
      [
        'number 250 ms',
        'number 3.5%',
        'number $1,200.50',
        'number 8,192 tokens',
        'number 12MB',
        'number 5 seconds',
        'number 2026-11-20',
        'number 14:03',
        'number 54329',
      ],
    ],
    [
      'names inside of a sentence, and acronyms',
      'Then Priya Raman asked Kim. She uses Redis over TLS. Nobody minds.',
      ['name Priya Raman', 'name Kim', 'name Redis', 'name TLS'],
    ],
    [
      'quotations',
      'He said "keep it simple" and “not now”, 「東京タワー」.',
      ['quoted keep it simple', 'quoted not now', 'quoted 東京タワー'],
    ],
    ['in text without spaces', '設定はsrc/app.tsで、ポートは54329です。', ['path src/app.ts', 'number 54329']],
    ['each once', 'src/a.ts and src/a.ts', ['path src/a.ts']],
    ['none where there are none', 'Please do it again, e.g. like this. And/or that! 7', []],
  ];
  for (const [name, text, identifiers] of cases) it(`are ${name}`, () => deepEqual(found(text), identifiers));

  it('are verbatim, where they say, and the same every time, on any text', () => {
    const unit = fc.oneof(
      fc.constantFrom(
        'src/',
        'a.ts',
        '`',
        '"',
        'https://',
        'Foo',
        ' ',
        '\n',
        '12',
        ' ms',
        '.',
        ',',
        '漢',
        '😀',
        '「',
        '」',
        '--',
        '_',
        '#',
        '@',
      ),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    );
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 60 }).map((parts) => parts.join('')),
        (text) => {
          const identifiers = extractIdentifiers(text);
          for (const { text: identifier, at } of identifiers) {
            ok(identifier.length > 0);
            equal(text.slice(at, at + identifier.length), identifier);
          }
          deepEqual(extractIdentifiers(text), identifiers);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('come from 50,000 characters of anything', () => {
    for (const part of [
      'a',
      'A',
      'aB',
      '/',
      'a/',
      '.',
      'a.',
      '_',
      '1',
      '1,',
      '-',
      '`',
      '`a',
      '"',
      '"a',
      '@',
      'Ab ',
      'http://',
      ':',
      '「',
      '漢',
      '😀',
      '\n',
    ]) {
      extractIdentifiers(part.repeat(50_000 / part.length));
    }
  });
});
