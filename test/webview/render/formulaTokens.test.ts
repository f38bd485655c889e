import { deepStrictEqual, strictEqual } from 'node:assert';
import * as fc from 'fast-check';
import type { Token } from 'marked';
import type { FormulaToken } from '../../../webview-ui/render/formulaTokens';
import { BlockSplitter, closeInline, lexBlock } from '../../../webview-ui/render/streamedMarkdown';

/** What of a text is taken for formulas. Runs in Node. */
function formulas(text: string): string[] {
  const found: string[] = [];
  const walk = (tokens: readonly Token[]): void => {
    for (const token of tokens) {
      if (token.type === 'formula') found.push((token as FormulaToken).text);
      if ('tokens' in token && token.tokens) walk(token.tokens);
      if (token.type === 'list') walk((token as { readonly items: Token[] }).items);
    }
  };
  walk(lexBlock(text));
  return found;
}

/** Text that is shown of a text that is not finished. */
function shown(text: string): string {
  const plain = (tokens: readonly Token[]): string =>
    tokens
      .map((token) => ('tokens' in token && token.tokens ? plain(token.tokens) : 'text' in token ? String(token.text) : token.raw))
      .join('');
  return plain(lexBlock(closeInline(text)));
}

describe('formulas in a text', () => {
  it('are those between their marks, in a line and on lines of their own', () => {
    const cases: Readonly<Record<string, string[]>> = {
      'Let $x$ and $y_1*z_2$ be *so*.': ['$x$', '$y_1*z_2$'],
      'With \\(a + b\\) and \\( \\frac{1}{2} \\).': ['\\(a + b\\)', '\\( \\frac{1}{2} \\)'],
      '$$\nE = mc^2\n$$': ['$$\nE = mc^2\n$$'],
      'So\n\\[\na\n- b\n+ c\n= d\n\\]\nand on.': ['\\[\na\n- b\n+ c\n= d\n\\]'],
      'Inline $$x$$ display': ['$$x$$'],
      '- one\n  $$\n  x\n  $$\n- two $y$': ['$$\nx\n$$', '$y$'],
      '**bold $a*b$ still**': ['$a*b$'],
      '$\\$5$': ['$\\$5$'],
      '($x$), $y$-axis, $n$th': ['$x$', '$y$'],
    };
    deepStrictEqual(Object.fromEntries(Object.keys(cases).map((text) => [text, formulas(text)])), cases);
  });

  it('are none of the money, variables, code and marks that people write', () => {
    for (const text of [
      '$5 and $6',
      'from $5-$6 to $7.',
      'It costs $5 (a cup) or 10$ more',
      '$HOME and $PATH',
      '$HOME/$USER/x',
      'US$5 and CA$6',
      '`$x$` and ``$y$``',
      '```\n$$\nx\n$$\n```',
      '    $$x$$',
      '\\$x\\$',
      'a $ b $ c',
      '$x',
      '$$',
      '$$ $$',
      '\\[not a link\\] here',
      '- \\[ \\] todo',
      '$a\n\nb$',
      '$$\na\n\nb\n$$',
      `$${'x'.repeat(5_000)}$`,
      '$a `b$` c',
    ])
      deepStrictEqual(formulas(text), [], text);
  });

  it('are text until they are closed, with nothing of theirs taken for Markdown', () => {
    for (const text of [
      'so $a_1 * b_1 * c_2',
      'so $$x_1*y_1*z',
      'so \\(a_1*b_1*c',
      '$$\na\n- b\n# c',
      'Intro\n\\[\na*b*c\n= d',
      'so $\\frac{a}{b',
    ])
      strictEqual(shown(text).replaceAll('\n', ''), text.replaceAll('\n', ''));
    // Two dollars of a sentence are none, and the rest of it is not held back.
    strictEqual(shown('it is $5 for the **bold'), 'it is $5 for the bold');
  });

  it('are cut in a stream as in the whole text, whatever stands around them', () => {
    const piece = fc.constantFrom(
      'Text $x_1$ and *so* on',
      '$$\na\n- b\n$$',
      '\\[\nx = y\n\\]',
      '$$x$$',
      '$$x$$ and more',
      '$$',
      '- item\n- $y$',
      '> $z$',
      '$5 and $6',
      '```\n$$\n```',
      '\\[open',
      '# Title $t$',
      'so \\(a\\)',
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(piece, fc.constantFrom('\n', '\n\n')), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 5 }),
        (parts, step) => {
          const text = parts.map(([part, end]) => part + end).join('');
          deepStrictEqual(cut(text, step), cut(text, text.length));
        },
      ),
      { numRuns: 400 },
    );
  });

  it('take no long time to look for', () => {
    const hostile = [
      '$'.repeat(50_000),
      '$a '.repeat(20_000),
      '\\('.repeat(20_000),
      '\n$$'.repeat(20_000),
      '\\[\n'.repeat(20_000),
      '$`'.repeat(20_000),
    ];
    for (const text of hostile) {
      // Of the processor: on a busy machine the clock goes on while others have it.
      const before = process.cpuUsage();
      lexBlock(text);
      closeInline(text);
      const took = process.cpuUsage(before).user / 1_000;
      strictEqual(took < 3_000, true, `${text.slice(0, 6)}: ${Math.round(took)} ms`);
    }
  });
});

function cut(text: string, step: number): string[] {
  const splitter = new BlockSplitter();
  const blocks: string[] = [];
  for (let end = Math.min(step, text.length); ; end = Math.min(end + step, text.length)) {
    const { settled, open } = splitter.take(text.slice(0, end));
    blocks.push(...settled.flatMap(({ tokens }) => tokens.map(({ type, raw }) => `${type} ${raw.trimEnd()}`)));
    if (end < text.length) continue;
    return [...blocks, ...(open ? open.tokens.map(({ type, raw }) => `${type} ${raw.trimEnd()}`) : [])];
  }
}
