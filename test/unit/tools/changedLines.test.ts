import { deepStrictEqual, strictEqual } from 'node:assert';
import { changedLines } from '../../../src/core/tools/files/changedLines';

const change = (before: string | null, after: string) => changedLines({ path: 'a.txt', before, after });
const numbered = (count: number, over: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: count }, (_, at) => `${over[at] ?? `line ${at}`}\n`).join('');

describe('lines of a change', () => {
  it('stand with what is around them, and say where some are left out', () => {
    deepStrictEqual(change(numbered(20), numbered(20, { 3: 'three', 15: 'fifteen' })), {
      added: 2,
      removed: 2,
      lines: [
        { mark: ' ', text: 'line 1' },
        { mark: ' ', text: 'line 2' },
        { mark: '-', text: 'line 3' },
        { mark: '+', text: 'three' },
        { mark: ' ', text: 'line 4' },
        { mark: ' ', text: 'line 5' },
        { mark: 'gap', text: '' },
        { mark: ' ', text: 'line 13' },
        { mark: ' ', text: 'line 14' },
        { mark: '-', text: 'line 15' },
        { mark: '+', text: 'fifteen' },
        { mark: ' ', text: 'line 16' },
        { mark: ' ', text: 'line 17' },
      ],
      more: 0,
    });
  });

  it('of a new file are all added, whatever its size, and a part of them is listed', () => {
    const { lines, ...counts } = change(null, numbered(5_000))!;
    deepStrictEqual(counts, { added: 5_000, removed: 0, more: 4_940 });
    deepStrictEqual([lines.length, lines[0], lines.at(-1)], [60, { mark: '+', text: 'line 0' }, { mark: '+', text: 'line 59' }]);
  });

  it('do not show ends of lines, nor all of a long one', () => {
    deepStrictEqual(change('a\r\nb\r\n', 'a\r\nc\r\n')!.lines, [
      { mark: ' ', text: 'a' },
      { mark: '-', text: 'b' },
      { mark: '+', text: 'c' },
    ]);
    strictEqual(change('a', 'x'.repeat(9_000))!.lines.at(-1)!.text.length, 400);
  });

  it('are not looked for where nearly everything differs', () => {
    strictEqual(change(numbered(3_000), numbered(3_000).replaceAll('line', 'row')), null);
  });
});
