import { deepStrictEqual } from 'node:assert';
import { mergeNote } from '../../../src/core/sync/noteMerge';
import { noteState, type NoteRevision } from '../../../src/core/sync/noteRevisions';
import { seededRandom } from '../../support/chat/endurance';

describe('notes that two devices have changed', () => {
  const base = 'one\ntwo\nthree\nfour\n';
  const cases: readonly (readonly [name: string, ours: string | null, theirs: string | null, text: string | null, both: number])[] = [
    ['have what each added in its own place', 'zero\none\ntwo\nthree\nfour\n', 'one\ntwo\nthree\nfour\nfive\n', `zero\n${base}five\n`, 0],
    ['have the changes of neighbouring lines', 'one\nTWO\nthree\nfour\n', 'one\ntwo\nTHREE\nfour\n', 'one\nTWO\nTHREE\nfour\n', 0],
    ['keep both of the same line', 'one\nmine\nthree\nfour\n', 'one\nyours\nthree\nfour\n', 'one\nmine\nyours\nthree\nfour\n', 1],
    ['keep both of what was added at the end', `${base}mine\n`, `${base}yours\n`, `${base}mine\nyours\n`, 1],
    ['have once what both added', `${base}same\n`, `${base}same\n`, `${base}same\n`, 0],
    ['are there where one was deleted and the other changed', null, `${base}five\n`, `${base}five\n`, 0],
    ['are gone where one was deleted and the other left alone', null, base, null, 0],
    ['keep a last line without an end', `${base}mine`, `${base}yours`, `${base}mine\nyours`, 1],
    [
      'keep fences of blocks',
      `${base}\`\`\`\na\n\`\`\`\n`,
      `\`\`\`\nb\n\`\`\`\n${base}`,
      `\`\`\`\nb\n\`\`\`\n${base}\`\`\`\na\n\`\`\`\n`,
      0,
    ],
  ];
  for (const [name, ours, theirs, text, both] of cases) {
    it(name, () => deepStrictEqual(mergeNote(base, ours, theirs), { text, both }));
  }

  it('have everything of both where neither comes from the other', () => {
    deepStrictEqual(mergeNote(null, 'a\nshared\n', 'b\nshared\n'), { text: 'a\nb\nshared\n', both: 1 });
  });

  it('come to the same text in whatever order their revisions come, also after they have crossed', () => {
    const random = seededRandom(11);
    const revision = (id: string, tick: number, parents: readonly string[], text: string): NoteRevision => ({ id, tick, parents, text });
    const revisions = [
      revision('a', 1, [], base),
      revision('b', 2, ['a'], 'one\ntwo, here\nthree\nfour\n'),
      revision('c', 3, ['a'], 'one\ntwo, there\nthree\nfour\n'),
      revision('d', 4, ['b', 'c'], 'one\ntwo, here\ntwo, there\nthree\nfour\nfrom d\n'),
      revision('e', 5, ['c', 'b'], 'from e\none\ntwo, here\ntwo, there\nthree\nfour\n'),
    ];
    for (let round = 0; round < 20; round++) {
      const shuffled = revisions.map((one) => [random(), one] as const).sort(([a], [b]) => a - b);
      deepStrictEqual(noteState(shuffled.map(([, one]) => one)), {
        heads: ['d', 'e'],
        text: 'from e\none\ntwo, here\ntwo, there\nthree\nfour\nfrom d\n',
        both: 0,
      });
    }
  });
});
