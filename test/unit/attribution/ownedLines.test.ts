import assert from 'node:assert/strict';
import type { CandidateEdit } from '../../../src/core/attribution/editRecord';
import { laterLines, ownedLines, linesByReplay } from '../../../src/core/attribution/ownedLines';

const edit = (entry: string, at: number, before: string | null, after: string): CandidateEdit => ({ entry, at, path: 'a', before, after });
const earlier = ['function tide() {', '  return null;', '}', '', 'function harbor() {', '  return null;', '}'];

describe('whose a line is by doing the edits again', () => {
  const owners = (now: readonly string[], ...edits: readonly CandidateEdit[]) =>
    now.map((_, line) => linesByReplay(earlier, edits, now, line)?.edit.entry ?? '');

  it('is told of brackets that stand in the file many times', () => {
    const added = edit('one', 1, '}\n\nfunction harbor() {\n', '}\n\nfunction lantern() {\n  return null;\n}\n\nfunction harbor() {\n');
    const now = [...earlier.slice(0, 4), 'function lantern() {', '  return null;', '}', '', ...earlier.slice(4)];
    assert.deepEqual(owners(now, added).slice(4, 6), ['one', 'one']);
    const replaced = edit(
      'two',
      2,
      '  return null;\n}\n\nfunction harbor() {\n',
      '  if (moon) {\n    return moon;\n  }\n  return null;\n}\n\nfunction harbor() {\n',
    );
    const both = [...now.slice(0, 5), ...['  if (moon) {', '    return moon;', '  }', '  return null;'], ...now.slice(6)];
    assert.deepEqual(owners(both, replaced, added).slice(4, 9), ['one', 'two', 'two', 'two', 'one']);
  });

  it('is told of a line of which a part was changed, with other blanks and quotes now', () => {
    const now = earlier.with(4, "\tfunction lantern('x') {");
    assert.deepEqual(owners(now, edit('one', 1, 'function harbor(', 'function lantern("x"')), ['', '', '', '', 'one', '', '']);
  });

  it('is not told where the place of an edit is not the only one, is gone, or not named', () => {
    const now = earlier.with(1, '  return moon;');
    for (const before of ['  return null;\n', 'return tide;\n', ''])
      assert.deepEqual(owners(now, edit('one', 1, before, '  return moon;\n')), ['', '', '', '', '', '', '']);
  });

  it('is not told where the line is not that of the edit, or may be another', () => {
    const added = edit('one', 1, '}\n\nfunction harbor() {\n', '}\n\nfunction lantern() {\n}\n\nfunction harbor() {\n');
    const head = earlier.slice(0, 4);
    // Everything but the bracket was written anew.
    assert.deepEqual(owners([...head, 'class Lantern {', '}', '', 'class Harbor {', '  x = null;', '}'], added)[5], '');
    // Somebody has put a bracket beside it.
    const beside = owners([...head, 'function lantern() {', '}', '}', '', ...earlier.slice(4)], added);
    assert.deepEqual(beside.slice(4, 7), ['one', '', '']);
  });

  it('is told past what others have changed between two edits that hold the whole file', () => {
    const [other, made] = [
      [...earlier, 'other();'],
      [...earlier, 'other();', 'made();'],
    ];
    const whole = { ...edit('one', 1, other.join('\n'), made.join('\n')), isWhole: true };
    assert.deepEqual(owners(made, whole).slice(6), ['', '', 'one']);
  });

  it('is told of a new file', () => {
    assert.equal(linesByReplay([], [edit('one', 1, null, 'a();\n}\n')], ['a();', '}'], 1)?.edit.entry, 'one');
  });
});

describe('what is known of the lines of a later text', () => {
  it('is what was known of them before, and nothing where two of them may be meant', () => {
    const before = ownedLines(['a', '}', 'b'], (line) => line);
    assert.deepEqual(
      [laterLines(before, ['a', '}', 'x', 'b'], -1)?.owners, laterLines(before, ['a', '}', 'x', '}', 'b'], -1)?.owners],
      [
        [0, 1, -1, 2],
        [0, undefined, -1, undefined, 2],
      ],
    );
  });

  it('is nothing where too much has changed', () => {
    const lines = (name: string) => Array.from({ length: 2_000 }, (_, i) => `${name}${i}`);
    assert.equal(
      laterLines(
        ownedLines(lines('a'), () => 0),
        lines('b'),
        1,
      ),
      null,
    );
  });
});
