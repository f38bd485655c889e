import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { isUserMessage } from '../../../src/core/session/entry';
import { isOpen, isUndone } from '../../../src/core/rewind/turnReview';
import { notesOf, TurnReviewer, type TurnReview } from '../../../src/node/rewind/turnReviewer';
import { FilesRig } from '../../support/rewind/filesRig';

const twelve = Array.from({ length: 12 }, (_, n) => `line ${n}\n`);
const text = (changes: Readonly<Record<number, string>> = {}) => twelve.map((line, n) => changes[n] ?? line).join('');

describe('the review of a turn', () => {
  let all: FilesRig;
  let reviewer: TurnReviewer;
  beforeEach(async () => {
    all = await FilesRig.create();
    reviewer = new TurnReviewer(all.rig.store, all.restorer);
  });
  afterEach(() => all.rig.dispose());

  const find = async (entry: string | null = null): Promise<TurnReview> => (await reviewer.find(all.rig.session, entry))!;
  const file = (review: TurnReview, path: string) => review.files.find(({ edit }) => edit.path === path)!;
  const hunks = async (path: string) => (await reviewer.hunks(file(await find(), path)))!;
  const keep = async (path: string, at?: number) => {
    const review = await find();
    await reviewer.keep(review, [file(review, path)], at === undefined ? undefined : (await hunks(path))[at]!);
  };
  const undo = async (path: string, at?: number) => {
    const review = await find();
    const planned = await reviewer.undo(review, [file(review, path)], at === undefined ? undefined : (await hunks(path))[at]!);
    const done = planned.plan.files.filter(({ action }) => action === 'write' || action === 'delete');
    await all.restorer.apply({ ...planned.plan, files: done }, { reviews: notesOf(planned, done) });
    return planned.plan.files.map(({ action, reason, isMerged }) => [action, reason, isMerged]);
  };
  const states = async (entry: string | null = null) =>
    Object.fromEntries(
      (await find(entry)).files.map((one) => [one.edit.path, isOpen(one) ? 'open' : isUndone(one) ? 'undone' : 'decided']),
    );

  it('sums the calls of a turn, and of no other', async () => {
    all.put('a.txt', text());
    const first = await all.turnOf('one', { 'a.txt': text({ 1: 'ONE\n' }), 'b.txt': 'b\n' });
    await all.turnOf('two', { 'a.txt': text({ 1: 'ONE\n', 8: 'EIGHT\n' }), 'c.txt': 'c\n' });
    const one = await find(first);
    const two = await find();
    deepStrictEqual([one.isLast, two.isLast], [false, true]);
    deepStrictEqual(await states(first), { 'a.txt': 'open', 'b.txt': 'open' });
    deepStrictEqual(await states(), { 'a.txt': 'open', 'c.txt': 'open' });
    const answer = all.rig.conversation.entries.at(-1)!;
    ok(!isUserMessage(answer));
    deepStrictEqual((await find(answer.uuid)).turn, two.turn);
    strictEqual(await reviewer.find(all.rig.session, 'nothing'), null);
  });

  it('keeps and undoes hunks and files, and knows it in a later window', async () => {
    all.put('a.txt', text());
    await all.turnOf('one', { 'a.txt': text({ 1: 'ONE\n', 5: 'FIVE\n', 9: 'NINE\nand more\n' }), 'b.txt': 'b\n', 'c.txt': 'c\n' });
    strictEqual((await hunks('a.txt')).length, 3);
    await keep('a.txt', 0);
    deepStrictEqual(
      (await hunks('a.txt')).map(({ newStart }) => newStart),
      [5, 9],
    );
    deepStrictEqual(await undo('a.txt', 0), [['write', null, false]]);
    strictEqual(all.files()['a.txt'], text({ 1: 'ONE\n', 9: 'NINE\nand more\n' }));
    await all.open();
    reviewer = new TurnReviewer(all.rig.store, all.restorer);
    deepStrictEqual(
      (await hunks('a.txt')).map(({ newStart, added }) => [newStart, added]),
      [[9, ['NINE\n', 'and more\n']]],
    );
    await keep('a.txt');
    await undo('b.txt');
    deepStrictEqual(await states(), { 'a.txt': 'decided', 'b.txt': 'undone', 'c.txt': 'open' });
    deepStrictEqual(all.files(), { 'a.txt': text({ 1: 'ONE\n', 9: 'NINE\nand more\n' }), 'c.txt': 'c\n' });
  });

  it('leaves a hunk to the user who has written in it since, and merges what they wrote elsewhere', async () => {
    all.put('a.txt', text());
    await all.turn('one', 'a.txt', text({ 1: 'ONE\n', 9: 'NINE\n' }));
    const mine = text({ 1: 'ONE, as I like it\n', 5: 'mine\n', 9: 'NINE\n' });
    all.put('a.txt', mine);
    deepStrictEqual(await undo('a.txt', 0), [['ask', 'changed_since', false]]);
    strictEqual(all.files()['a.txt'], mine);
    deepStrictEqual(await states(), { 'a.txt': 'open' });
    deepStrictEqual(await undo('a.txt', 1), [['write', null, true]]);
    strictEqual(all.files()['a.txt'], text({ 1: 'ONE, as I like it\n', 5: 'mine\n' }));
    deepStrictEqual(
      (await hunks('a.txt')).map(({ newStart }) => newStart),
      [1],
    );
  });

  it('takes a hunk back from an earlier answer under the work of later ones', async () => {
    all.put('a.txt', text());
    const first = await all.turn('one', 'a.txt', text({ 1: 'ONE\n' }));
    await all.turn('two', 'a.txt', text({ 1: 'ONE\n', 9: 'NINE\n' }));
    const review = await find(first);
    const planned = await reviewer.undo(review, review.files);
    await all.restorer.apply(planned.plan, { reviews: notesOf(planned, planned.plan.files) });
    strictEqual(all.files()['a.txt'], text({ 9: 'NINE\n' }));
    deepStrictEqual([await states(first), await states()], [{ 'a.txt': 'undone' }, { 'a.txt': 'open' }]);
  });

  it('is open again when what it undid is put back', async () => {
    await all.turnOf('one', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    await keep('b.txt');
    await undo('a.txt');
    deepStrictEqual([await states(), all.files()], [{ 'a.txt': 'undone', 'b.txt': 'decided' }, { 'b.txt': 'b\n' }]);
    await all.apply((await all.restorer.planUndo(all.rig.session))!);
    deepStrictEqual(
      [await states(), all.files()],
      [
        { 'a.txt': 'open', 'b.txt': 'decided' },
        { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      ],
    );
    await all.apply((await all.restorer.planUndo(all.rig.session))!);
    deepStrictEqual([await states(), all.files()], [{ 'a.txt': 'undone', 'b.txt': 'decided' }, { 'b.txt': 'b\n' }]);
  });
});
