import { deepStrictEqual, strictEqual } from 'node:assert';
import { uncoveredList } from '../../../../src/core/rewind/fileTexts';
import { TurnReviewer } from '../../../../src/node/rewind/turnReviewer';
import { Transcript } from '../../../../src/vscode/chat/transcript/transcript';
import { FilesRig } from '../../../support/rewind/filesRig';

describe('what an answer’s row says of what no restore has', () => {
  it('names files, the first three, and what is so of all of them once', () => {
    const ignored = ['out/', 'a.log', 'b.log', 'c.log'].map((path) => ({ path, reason: 'ignored' as const }));
    const noGit = { path: '', reason: 'no_git' as const };
    deepStrictEqual([[noGit, noGit], ignored.slice(0, 1), [...ignored, noGit]].map(uncoveredList), [
      'Not in a Git repository: what commands change cannot be restored',
      'No restore covers: out/ (ignored by Git: not covered)',
      'No restore covers: out/ (ignored by Git: not covered), a.log (ignored by Git: not covered), b.log (ignored by Git: not covered) and 1 more · Not in a Git repository: what commands change cannot be restored',
    ]);
  });
});

describe('what an answer’s row says of files', function () {
  this.timeout(30_000);
  let all: FilesRig;
  beforeEach(async () => (all = await FilesRig.create()));
  afterEach(() => all.rig.dispose());

  const names = Array.from({ length: 12 }, (_, n) => `f${n}.txt`);
  const opened = async (limit: number) => {
    const transcript = new Transcript(
      { entries: all.rig.conversation.entries, excerpted: new Set() },
      (id) => id,
      () => undefined,
    );
    const page = await all.rig.store.page(all.rig.session, { limit });
    transcript.load(page);
    return { transcript, page };
  };
  const said = (transcript: Transcript) => transcript.rowMarks().map(({ id, changes }) => [id, changes]);

  it('is of the whole turn, however little of it the page has', async () => {
    await all.turn('before', 'other.txt', 'x\n');
    await all.turnOf('many', Object.fromEntries(names.map((name) => [name, `${name}\n`])));
    const answer = all.rig.conversation.entries.at(-1)!.uuid;
    for (const limit of [3, 7, 26]) {
      const { transcript } = await opened(limit);
      deepStrictEqual(said(transcript), [[answer, { text: '12 files, +12 −0', files: 12, left: 12, undone: 0 }]], `${limit} entries`);
    }
    const { transcript, page } = await opened(5);
    const older = transcript.older(await all.rig.store.page(all.rig.session, { limit: 100, before: page.entries[0]!.uuid }));
    deepStrictEqual(
      older.marks.map(({ changes }) => changes?.text),
      ['1 file, +1 −0'],
    );
    deepStrictEqual(said(transcript)[0]![1], { text: '12 files, +12 −0', files: 12, left: 12, undone: 0 });
  });

  it('moves with the turn, and follows its review', async () => {
    await all.turnOf('one', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const { transcript } = await opened(100);
    const first = all.rig.conversation.entries.at(-1)!.uuid;
    const events: string[][] = [];
    all.rig.conversation.onDidEmit((event) => {
      if (event.type === 'entry_appended') events.push([...transcript.append(event.entry).marked]);
    });
    const reviewer = new TurnReviewer(all.rig.store, all.restorer);
    const review = (await reviewer.find(all.rig.session, null))!;
    all.rig.conversation.branching.marked(await reviewer.keep(review, review.files.slice(0, 1)));
    deepStrictEqual(events, [[first]]);
    deepStrictEqual(said(transcript), [[first, { text: '2 files, +2 −0', files: 2, left: 1, undone: 0 }]]);
    events.length = 0;
    await all.turn('two', 'c.txt', 'c\n');
    const last = all.rig.conversation.entries.at(-1)!.uuid;
    strictEqual(events.at(-1)?.includes(last), true);
    deepStrictEqual(said(transcript).at(-1), [last, { text: '1 file, +1 −0', files: 1, left: 1, undone: 0 }]);
    strictEqual(said(transcript).length, 2);
  });
});
