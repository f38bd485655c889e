import { deepStrictEqual, strictEqual } from 'node:assert';
import * as fc from 'fast-check';
import { BlockSplitter, fenceIsClosed, closeInline } from '../../../webview-ui/render/streamedMarkdown';

/** Runs in Node: no page is needed to see how a text is cut. */
describe('blocks of a growing text', () => {
  const pieces = [
    '# Title\n',
    'text\n',
    '\n',
    'more `code` text',
    '\n\n',
    '- item\n',
    '  - nested\n',
    '\n  going on\n',
    '1. one\n',
    '> quote\n',
    '```ts\n',
    'let x = 1;\n',
    '```\n',
    '~~~\n',
    '| a | b |\n',
    '|---|---|\n',
    '| 1 | 2 |\n',
    '---\n',
    '===\n',
    '    indented\n',
    '<div>\n',
    '</div>\n',
    '[x]: https://example.org\n',
    '[x]\n',
    '**bold',
    '** ',
    '\\',
    '\t',
    '\u3000',
    '* * *\n',
    '<!-- ',
  ];

  it('never takes back what it has handed over', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 40 }), (parts) => {
        const text = parts.join('');
        const streamed = new BlockSplitter();
        let settled = '';
        for (let at = 1; at <= parts.length; at++) {
          const grown = parts.slice(0, at).join('');
          streamed.take(grown);
          strictEqual(grown.startsWith(settled), true);
          settled = grown.slice(0, streamed.settled);
        }
        strictEqual(text.startsWith(settled), true);
      }),
      { numRuns: 300 },
    );
  });

  it('cuts a stream as it cuts the whole text, for everything a model writes', () => {
    const document = fc.array(
      fc.constantFrom(
        'A paragraph with **bold** text.',
        '## Heading',
        '- one\n- two\n  - nested\n\n  more of two\n- three',
        '1. a\n2. b',
        '> quoted\n> twice',
        '```ts\nlet a;\n\nlet b;\n```',
        '| a |\n|---|\n| 1 |',
        '---',
        '~~~\nraw\n~~~',
        'Title\n=====',
        '$x$ and `y`',
      ),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(document, fc.integer({ min: 1, max: 9 }), (blocks, step) => {
        const text = blocks.join('\n\n');
        deepStrictEqual(cut(text, step), cut(text, text.length));
      }),
      { numRuns: 300 },
    );
  });

  it('knows whether a fence is closed', () => {
    const cases: [string, boolean][] = [
      ['```ts\nlet x;', false],
      ['```ts\nlet x;\n```', true],
      ['```\n``', false],
      ['````\n```\n', false],
      ['````\n```\n````\n', true],
      ['~~~\n```\n', false],
      ['~~~\nx\n~~~', true],
      ['```', false],
      ['   ```\n   ```  ', true],
      ['text', true],
    ];
    deepStrictEqual(
      cases.map(([raw]) => fenceIsClosed(raw)),
      cases.map(([, closed]) => closed),
    );
    deepStrictEqual(
      ['```\n```', '```\n```  ', '```\n```\n', '```\n```bash\n'].map((raw) => fenceIsClosed(raw, true)),
      [false, false, true, false],
    );
  });

  it('completes what is half written and leaves the rest alone', () => {
    const cases: [string, string][] = [
      ['plain', 'plain'],
      ['a **b', 'a **b**'],
      ['a **b** c', 'a **b** c'],
      ['a `b', 'a `b`'],
      ['a `b` *c', 'a `b` *c*'],
      ['a **b *c', 'a **b *c***'],
      ['see [the', 'see the'],
      ['see [the](http', 'see the'],
      ['see [the](http://x)', 'see [the](http://x)'],
      ['2 * 3', '2 * 3'],
      ['a ~~b', 'a ~~b~~'],
      ['a `**` b', 'a `**` b'],
      ['ends `', 'ends '],
    ];
    deepStrictEqual(
      cases.map(([raw]) => closeInline(raw)),
      cases.map(([, completed]) => completed),
    );
  });
});

function cut(text: string, step: number): string[] {
  const splitter = new BlockSplitter();
  const blocks: string[] = [];
  for (let end = step; ; end += step) {
    const { settled, open } = splitter.take(text.slice(0, end));
    blocks.push(...settled.map((block) => block.raw.trim()));
    if (end < text.length) continue;
    if (open) blocks.push(open.raw.trim());
    return blocks;
  }
}
