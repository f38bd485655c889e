import assert from 'node:assert/strict';
import { editsOf } from '../../../src/core/attribution/callEdits';
import { chooseEdits } from '../../../src/core/attribution/chooseEdits';
import { beforeMoving, beforeReformatting } from '../../../src/core/attribution/reformatted';

const edits = (input: unknown) => editsOf({ type: 'tool_call', callId: 'c', name: 'any', input });

describe('what calls of other programs do to files', () => {
  const one = { path: 'src/a.ts', before: 'old', after: 'new' };

  for (const [program, input, expected] of [
    ['this one', { path: 'src/a.ts', old_text: 'old', new_text: 'new' }, [one]],
    ['Claude Code', { file_path: 'src/a.ts', old_string: 'old', new_string: 'new', replace_all: false }, [one]],
    ['Claude Code, several', { file_path: 'src/a.ts', edits: [{ old_string: 'old', new_string: 'new' }] }, [one]],
    ['Claude Code, a whole file', { file_path: 'src/a.ts', content: 'all\n' }, [{ path: 'src/a.ts', before: null, after: 'all\n' }]],
    ['opencode', { filePath: 'src/a.ts', oldString: 'old', newString: 'new' }, [one]],
    ['Gemini CLI', { file_path: 'src/a.ts', old_string: 'old', new_string: 'new', instruction: 'why' }, [one]],
    ['pi', { path: 'src/a.ts', oldText: 'old', newText: 'new' }, [one]],
    ['Goose', { command: 'str_replace', path: 'src/a.ts', old_str: 'old', new_str: 'new' }, [one]],
    ['Goose, a whole file', { command: 'write', path: 'src/a.ts', file_text: 'x' }, [{ path: 'src/a.ts', before: null, after: 'x' }]],
    [
      'Codex',
      { input: '*** Begin Patch\n*** Update File: src/a.ts\n@@ class A\n same\n-old\n+new\n*** Add File: b.ts\n+one\n+two\n*** End Patch' },
      [
        { path: 'src/a.ts', before: 'same\nold', after: 'same\nnew' },
        { path: 'b.ts', before: '', after: 'one\ntwo' },
      ],
    ],
    [
      'Codex, by a shell',
      { command: ['bash', '-lc', "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: src/a.ts\n@@\n-old\n+new\n*** End Patch\nEOF"] },
      [one],
    ],
    ['Cline', { path: 'src/a.ts', diff: '------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n' }, [one]],
    ['Roo', { path: 'src/a.ts', diff: '<<<<<<< SEARCH\n:start_line:1\n-------\nold\n=======\nnew\n>>>>>>> REPLACE' }, [one]],
    ['a patch', { patch: 'diff --git a/src/a.ts b/src/a.ts\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1 +1 @@\n-old\n+new\n' }, [one]],
    [
      'a file that holds a patch',
      { path: 'a.md', content: 'x\n@@ -1 +1 @@\n-a\n+b\n' },
      [{ path: 'a.md', before: null, after: 'x\n@@ -1 +1 @@\n-a\n+b\n' }],
    ],
    ['a call that reads', { path: 'src/a.ts', limit: 3 }, []],
  ] as const)
    it(`is read of ${program}`, () => assert.deepEqual(edits(input), expected));

  it('is read of the answers of aider', () => {
    const block = (before: string, after: string) => `<<<<<<< SEARCH\n${before}\n=======\n${after}\n>>>>>>> REPLACE`;
    const text = `I change it.\n\nsrc/a.ts\n\`\`\`ts\n${block('old', 'new')}\n\`\`\`\nand\n\n**src/b.py**\n\`\`\`\n${block('x', 'y')}\n\`\`\``;
    assert.deepEqual(editsOf({ type: 'message', role: 'assistant', text }), [one, { path: 'src/b.py', before: 'x', after: 'y' }]);
  });

  it('is bounded', () => {
    let deep: unknown = { path: 'a', new_text: 'x' };
    for (let i = 0; i < 50; i++) deep = { deep };
    assert.deepEqual(
      [edits(deep), edits({ path: 'a', edits: Array.from({ length: 5_000 }, () => ({ new_text: 'x' })) }).length],
      [[], 500],
    );
  });
});

describe('which edit has put a line there', () => {
  const state = (lines: string[], line: number) => ({ lines, line, earlier: [], since: 100_000, until: 200_000 });
  const edit = (entry: string, at: number, after: string, before: string | null = '') => ({ entry, at, path: 'a', before, after });
  const chosen = (lines: string[], line: number, ...candidates: ReturnType<typeof edit>[]) =>
    chooseEdits(state(lines, line), candidates).edits.map(({ entry }) => entry);
  const telling = 'const harbor = lantern(tide);';

  it('is one that was made before the commit, with the text of the line, whatever blanks', () => {
    assert.deepEqual(chosen([`  ${telling}`], 0, edit('in time', 150_000, telling), edit('later', 300_000, telling)), ['in time']);
    assert.deepEqual(chosen([`  ${telling}`], 0, edit('other', 150_000, 'const harbor = lantern(moon);')), []);
  });

  it('is told without comparing the many that do not hold the line', () => {
    const lines = (name: string) => Array.from({ length: 3_000 }, (_, i) => `${name}${i}`).join('\n');
    const others = Array.from({ length: 30 }, (_, i) => edit(`other ${i}`, 150_000 + i, lines(`new${i}x`), lines(`old${i}x`)));
    assert.deepEqual(chosen([telling], 0, edit('one', 150_000, telling), ...others), ['one']);
  });

  it('is none that has only kept it', () => {
    assert.deepEqual(chosen([telling, 'x'], 0, edit('kept', 150_000, `${telling}\nx`, telling)), []);
  });

  it('is the first of those that wrote the whole file, and the last that is known to have put it back', () => {
    const whole = edit('second', 160_000, telling, null);
    assert.deepEqual(chosen([telling], 0, edit('first', 150_000, telling, null), whole), ['first']);
    assert.deepEqual(chosen([telling], 0, edit('first', 150_000, telling), edit('again', 170_000, telling, 'x')), ['again']);
  });

  it('is told by what stands around where lines are the same, and is one of several where nothing does', () => {
    const file = ['alpha(harbor);', 'return nothing;', 'omega(harbor);', 'gamma(marble);', 'return nothing;', 'delta(marble);'];
    const [one, two] = [edit('one', 150_000, file.slice(0, 3).join('\n')), edit('two', 160_000, file.slice(3).join('\n'))];
    assert.deepEqual([chosen(file, 1, one, two), chosen(file, 4, one, two)], [['one'], ['two']]);
    assert.deepEqual(chosen(file, 4, edit('alone', 150_000, 'return nothing;')), []);
  });

  it('is found past a commit that has only wrapped lines, or changed their quotes, and not past one that has changed them', () => {
    const before = ['first();', 'call("one", two, three);', 'if (a < b) {'];
    const after = ['first();', 'call(', "  'one',", '  two,', '  three,', ')', 'if (a > b) {'];
    assert.deepEqual(
      after.map((_, line) => beforeReformatting(before, after, line)),
      [null, null, null, null, null, null, null],
    );
    const wrapped = after.slice(0, 6);
    assert.deepEqual(
      wrapped.map((_, line) => beforeReformatting(before.slice(0, 2), wrapped, line)),
      [null, 1, 1, 1, 1, 1],
    );
  });

  it('is found past a commit that has moved the line, where it is one and the same', () => {
    const [before, after] = [
      [telling, '}', 'x', '}'],
      ['}', 'x', '}', telling],
    ];
    assert.deepEqual(
      [3, 0].map((line) => beforeMoving(before, after, line)),
      [0, null],
    );
    assert.deepEqual(beforeMoving([telling, telling], after, 3), null);
  });
});
