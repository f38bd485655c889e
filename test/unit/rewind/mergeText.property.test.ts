import { deepStrictEqual, strictEqual } from 'node:assert';
import fc from 'fast-check';
import { countLines, mergeText } from '../../../src/core/rewind/mergeText';

const bytes = (text: string) => new TextEncoder().encode(text);
const merged = (base: string, ours: string, theirs: string) => {
  const result = mergeText(bytes(base), bytes(ours), bytes(theirs));
  return result && new TextDecoder().decode(result);
};

describe('a three-way merge', () => {
  it('takes both sides where they do not meet, and neither where they do', () => {
    strictEqual(merged('a\nb\nc\nd\ne\n', 'A\nb\nc\nd\ne\n', 'a\nb\nc\nd\nE\n'), 'A\nb\nc\nd\nE\n');
    strictEqual(merged('a\nb\nc\n', 'a\nB\nc\n', 'a\nX\nc\n'), null);
    strictEqual(merged('a\nb\nc\n', 'A\nb\nc\n', 'a\nB\nc\n'), null, 'neighbouring lines');
    strictEqual(merged('a\nb\n', 'a\nx\nb\n', 'a\ny\nb\n'), null, 'two insertions at one place');
    strictEqual(merged('a\nb\nc\n', 'a\nB\nc\n', 'a\nB\nc\n'), 'a\nB\nc\n');
    strictEqual(merged('a\nb\nc', 'a\nb\nc\nd', 'X\nb\nc'), 'X\nb\nc\nd');
  });

  it('takes a change of the line ends for what it is, and leaves what is no text', () => {
    strictEqual(merged('a\nb\nc\n', 'a\r\nb\r\nc\r\n', 'a\nb\nC\n'), 'a\r\nb\r\nC\r\n');
    strictEqual(merged('a\nb\nc\n', 'a\nB\nc\n', 'a\r\nb\r\nc\r\nd\r\n'), 'a\r\nB\r\nc\r\nd\r\n');
    strictEqual(merged('a\0', 'b', 'c'), null);
    strictEqual(mergeText(new Uint8Array([0xff]), bytes('a'), bytes('b')), null);
  });

  it('takes texts of more lines than a call takes arguments', () => {
    const lines = '\n'.repeat(300_000);
    strictEqual(merged(`a\n${lines}z\n`, `A\n${lines}z\n`, `a\n${lines}Z\n`), `A\n${lines}Z\n`);
  });

  it('gives up texts that differ in too much, in bounded time', () => {
    const many = (name: string) => Array.from({ length: 50_000 }, (_, i) => `${name} ${i}\n`).join('');
    strictEqual(merged(many('a'), many('b'), many('c')), null);
  });

  it('keeps every line that either side has added, and no line that either has removed', () => {
    const line = fc.integer({ min: 0, max: 30 }).map((n) => `l${n}`);
    const edits = fc.array(fc.tuple(fc.nat(40), fc.constantFrom('add', 'remove')), { maxLength: 4 });
    fc.assert(
      fc.property(fc.uniqueArray(line, { maxLength: 25 }), edits, edits, (base, ours, theirs) => {
        const apply = (side: string, changes: readonly (readonly [number, string])[]) => {
          const lines = [...base];
          const removed: string[] = [];
          changes.forEach(([at, what], n) => {
            if (what === 'add') lines.splice(at % (lines.length + 1), 0, `${side}${n}`);
            else removed.push(...lines.splice(at % (lines.length + 1), 1));
          });
          return { lines, removed: removed.filter((one) => base.includes(one)) };
        };
        const [left, right] = [apply('ours', ours), apply('theirs', theirs)];
        const text = (lines: readonly string[]) => lines.map((one) => `${one}\n`).join('');
        const result = merged(text(base), text(left.lines), text(right.lines));
        if (result === null) return;
        const expected = [...base, ...left.lines, ...right.lines].filter(
          (one) => !left.removed.includes(one) && !right.removed.includes(one),
        );
        deepStrictEqual(result.split('\n').slice(0, -1).sort(), [...new Set(expected)].sort());
        strictEqual(merged(text(base), text(right.lines), text(left.lines)), result, 'the same from both sides');
      }),
      { numRuns: 2_000 },
    );
  });

  it('counts lines', () => {
    deepStrictEqual(countLines(null, bytes('a\nb\n')), { added: 2, removed: 0 });
    deepStrictEqual(countLines(bytes('a\nb\nc\n'), bytes('a\nx\ny\nc\n')), { added: 2, removed: 1 });
    deepStrictEqual(countLines(bytes('a\nb'), null), { added: 0, removed: 2 });
    strictEqual(countLines(bytes('\0'), null), null);
  });
});
