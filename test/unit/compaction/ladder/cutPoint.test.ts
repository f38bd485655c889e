import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cutPoint, type Cut } from '../../../../src/core/compaction/ladder/cutPoint';
import type { StoredEntry } from '../../../../src/core/session/entry';
import { BranchBuilder } from '../../../support/chat/branchBuilder';

const cut = (b: BranchBuilder, tokens: number, userTurns = 2) =>
  cutPoint(b.entries, { keep: userTurns === 0 ? null : { userTurns }, tokens, tokensOf: (e) => e.tokenEstimate ?? 0 });
const ids = (entries: readonly StoredEntry[] | undefined) => entries?.map((e) => e.uuid);
const words = (tokens: number) => 'w'.repeat(tokens * 4);

function conversation(): BranchBuilder {
  const b = new BranchBuilder();
  for (const name of ['one', 'two', 'three']) {
    b.user(`${name} ${words(100)}`);
    b.assistant(words(100));
  }
  return b;
}

describe('cutPoint', () => {
  it('keeps the newest two user turns that fit', () => {
    const found = cut(conversation(), 1_000);
    assert.deepEqual(
      { ids: ids(found?.folded), uuid: found?.firstKept?.uuid, currentRequest: found?.currentRequest },
      { ids: ['e1', 'e2'], uuid: 'e3', currentRequest: null },
    );
  });

  it('keeps a message that waits for its answer where nothing is to be kept, and carries the request of a turn that has begun', () => {
    const answered = conversation();
    assert.deepEqual([ids(cut(answered, 0, 0)?.kept), cut(answered, 0, 0)?.currentRequest], [[], null]);
    const waits = conversation();
    const message = waits.user('and this?');
    assert.deepEqual([ids(cut(waits, 0, 0)?.kept), cut(waits, 0, 0)?.currentRequest], [[message.uuid], null]);
    waits.call('a');
    waits.result('a', 'found');
    assert.deepEqual([ids(cut(waits, 0, 0)?.kept), cut(waits, 0, 0)?.currentRequest?.uuid], [[], message.uuid]);
  });

  it('keeps one when two do not fit', () => {
    assert.equal(cut(conversation(), 250)?.firstKept?.uuid, 'e5');
  });

  it('cuts inside the last turn, before a model step, only when that turn alone is too large', () => {
    const b = new BranchBuilder();
    b.user('old');
    b.assistant('old');
    const request = b.user('the task');
    b.call('a');
    b.result('a', words(5_000));
    b.call('b');
    b.result('b', 'small');
    const found = cut(b, 500);
    assert.deepEqual([found?.firstKept?.uuid, found?.currentRequest?.uuid], ['e6', request.uuid]);
  });

  it('cuts a second time inside of one turn, keeps what the model has not seen yet, and carries the request on', () => {
    const b = new BranchBuilder();
    b.user('old');
    const request = b.user('the task');
    for (const id of ['a', 'b']) {
      b.call(id);
      b.result(id, words(5_000));
    }
    b.compaction(b.entries[4]!);
    for (const id of ['c', 'd']) {
      b.call(id);
      b.result(id, words(5_000));
    }
    const found = cut(b, 500);
    assert.deepEqual(
      { idsFolded: ids(found?.folded), idsKept: ids(found?.kept), uuid: found?.currentRequest?.uuid },
      { idsFolded: ['e5', 'e6', 'e8', 'e9'], idsKept: ['e10', 'e11'], uuid: request.uuid },
    );
    b.compaction(b.entries[9]!);
    assert.equal(cut(b, 500), null, 'one step alone');
  });

  it('keeps a huge last message that has no answer yet', () => {
    const b = conversation();
    b.user(words(50_000));
    assert.deepEqual(cut(b, 100)?.firstKept?.uuid, 'e7');
  });

  it('starts behind what an earlier compaction folded', () => {
    const b = conversation();
    b.compaction(b.entries[2]!);
    b.user('four');
    b.assistant(words(10));
    assert.deepEqual(ids(cut(b, 300)?.folded), ['e3', 'e4']);
  });

  it('finds nothing to fold in a conversation of one turn', () => {
    const b = new BranchBuilder();
    b.user('only');
    b.assistant('answer');
    assert.equal(cut(b, 1_000), null);
    assert.deepEqual(ids(cut(b, 1_000, 0)?.folded), ['e1', 'e2']);
  });

  it('never parts a call from its result, and folded + kept is everything', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('user', 'assistant', 'tools', 'two tools'), { minLength: 1, maxLength: 25 }),
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 0, max: 3 }),
        (kinds, tokens, turns) => {
          const b = new BranchBuilder();
          b.user('start');
          kinds.forEach((kind, n) => {
            if (kind === 'user') b.user(words(n));
            else if (kind === 'assistant') b.assistant(words(n));
            else {
              b.call(`${n}a`);
              if (kind === 'two tools') b.call(`${n}b`);
              b.result(`${n}a`, words(n * 3));
              if (kind === 'two tools') b.result(`${n}b`);
            }
          });
          const found: Cut | null = cut(b, tokens, turns);
          if (!found) return;
          assert.deepEqual(ids([...found.folded, ...found.kept]), ids(b.entries));
          assert.ok(found.folded.length > 0);
          const callIds = (entries: readonly StoredEntry[], type: string) =>
            new Set(entries.flatMap((e) => (e.content.type === type ? [(e.content as { callId: string }).callId] : [])));
          const keptCalls = callIds(found.kept, 'tool_call');
          for (const id of callIds(found.kept, 'tool_result')) assert.ok(keptCalls.has(id), `result ${id} kept without its call`);
          const last = b.entries.findLast((e) => e.content.type === 'message' && e.content.role === 'user')!;
          if (turns > 0) assert.ok(found.kept.includes(last) || found.currentRequest === last, 'the latest request is carried');
        },
      ),
    );
  });
});
