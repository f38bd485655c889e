import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkCitations, knownRefs, type Written } from '../../../../src/core/compaction/summary/citations';
import { emptyFoldedState } from '../../../../src/core/compaction/ledgers/foldedState';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

const branch = new BranchBuilder();
branch.user('Use port 48213 in src/server/listen.ts, see issue #77.');
branch.assistant('Done.');
branch.user('And raise the timeout in src/client/wait.ts to 30 s.');
const known = knownRefs(branch.entries, { ...emptyFoldedState, ledger: [{ ref: '#900', text: 'hello' }] });
const identifiers = [
  { kind: 'path' as const, text: 'src/server/listen.ts', entryId: 'e1', count: 1, byUser: true },
  { kind: 'path' as const, text: 'src/client/wait.ts', entryId: 'e3', count: 1, byUser: true },
];
const refOf = (id: string) => branch.entries.flatMap(({ uuid, seq }) => (uuid === id ? [`#${seq}`] : []))[0];
const check = (raw: string) => checkCitations({ state: null, raw }, known, identifiers, refOf);

describe('the citations of a summary', () => {
  const lines: [name: string, line: string, checked: string, unknown: string[]][] = [
    [
      'stay when there are such entries',
      'The port is 48213 (#1), the timeout 30 s [#2, #3].',
      'The port is 48213 (#1), the timeout 30 s [#2, #3].',
      [],
    ],
    ['stay when the state before has them', 'They said hello (#900).', 'They said hello (#900).', []],
    ['are quotations when the conversation has them', 'It is about issue #77.', 'It is about issue #77.', []],
    [
      'are mended by what the line names',
      'The user asked for src/client/wait.ts (#41).',
      'The user asked for src/client/wait.ts (#3).',
      ['#41'],
    ],
    ['keep those of a list that there are', 'The port is 48213 (#1, #41–#42).', 'The port is 48213 (#1).', ['#41', '#42']],
    [
      'are said to be none when nothing tells what was meant',
      'The user asked to delete everything (#41).',
      'The user asked to delete everything (no such entry).',
      ['#41'],
    ],
    ['are found without brackets', 'As decided in #41.', 'As decided in [no such entry].', ['#41']],
    ['are found in Chinese', '用户要求修改 src/server/listen.ts（见 #55）。', '用户要求修改 src/server/listen.ts（#1）。', ['#55']],
  ];
  for (const [name, line, checked, unknown] of lines) {
    it(name, () => assert.deepEqual(check(line), { checked: { state: null, raw: checked }, unknown }));
  }

  it('are checked in every part of a state, each unknown id told once', () => {
    const state = { logos: ['a (#41)', 'b (#1)'], pathos: ['c (#41)'], abstract: ['d (#42)'], conversation_summary: 'e (#2) (#42)' };
    assert.deepEqual(checkCitations({ state, raw: null }, known, identifiers, refOf), {
      checked: {
        state: {
          logos: ['a (no such entry)', 'b (#1)'],
          pathos: ['c (no such entry)'],
          abstract: ['d (no such entry)'],
          conversation_summary: 'e (#2) (no such entry)',
        },
        raw: null,
      },
      unknown: ['#41', '#42'],
    });
  });

  it('name only what there is, whatever was written, and change nothing else', () => {
    const part = fc.oneof(
      fc.constantFrom('(', ')', ', ', '[', ']', ' and ', '\n', 'src/client/wait.ts', '（', '）'),
      fc.integer({ min: 1, max: 80 }).map((n) => `#${n}`),
      fc.string({ maxLength: 6 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const raw = parts.join('');
        const { checked, unknown }: { checked: Written; unknown: readonly string[] } = check(raw);
        const left = [...(checked.raw ?? '').matchAll(/#\d+/g)].map(([ref]) => ref);
        assert.ok(
          left.every((ref) => known.has(ref)),
          `${raw} → ${checked.raw}`,
        );
        if (unknown.length === 0) assert.equal(checked.raw, raw);
      }),
    );
  });
});
