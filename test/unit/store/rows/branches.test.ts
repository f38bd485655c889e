import assert from 'node:assert/strict';
import { StoreError } from '../../../../src/core/errors';
import type { SessionStore } from '../../../../src/core/ports';
import type { BranchTip } from '../../../../src/core/branches/branch';
import type { NewEntry } from '../../../../src/core/session/entry';
import { openTestStore, tempFolder, testUuid, userMessage } from '../../../support/store/storeTemp';

describe('store: branches and forks', () => {
  const temp = tempFolder();
  let store: SessionStore;
  let session: string;

  before(async () => {
    store = await openTestStore(temp.path);
  });
  after(async () => {
    await store.close();
    temp.remove();
  });
  beforeEach(async () => {
    session = (await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: 1 })).uuid;
  });

  const append = (...entries: NewEntry[]) => store.append(session, { entries });
  const newFork = () => ({ uuid: testUuid(), channel: 'vscode', createdAt: 2 }) as const;
  const answer = (parent: string) =>
    userMessage(session, parent, 'answer', { content: { type: 'message', role: 'assistant', text: 'answer' } });
  const label = (target: string, text: string) => userMessage(session, target, '', { content: { type: 'label', target, label: text } });

  /** root ── answer ── left ── more, with right beside left; stands at `more`. */
  const fork = async () => {
    const root = userMessage(session, null, 'root');
    const first = answer(root.uuid);
    const right = userMessage(session, first.uuid, `right ${'x'.repeat(300)}`);
    const rightAnswer = answer(right.uuid);
    const left = userMessage(session, first.uuid, 'left');
    const more = answer(left.uuid);
    await append(root, first, right, rightAnswer, left, more);
    return { root, first, right, rightAnswer, left, more };
  };

  it('lists every leaf, with what tells it apart from the active branch', async () => {
    const { root, first, right, rightAnswer, left, more } = await fork();
    await append(
      label(right.uuid, 'old name'),
      label(right.uuid, 'second try'),
      label(root.uuid, 'begin'),
      label(left.uuid, 'gone'),
      label(left.uuid, ''),
    );
    const other = userMessage(session, null, 'another root');
    await append(other);
    await store.moveLeaf(session, more.uuid);
    const tip = (of: NewEntry, more: Omit<BranchTip, 'leaf' | 'at'>): BranchTip => ({ leaf: of.uuid, at: of.createdAt, ...more });
    const lone = tip(other, { messages: 1, firstText: 'another root', forkPoint: null, active: false, label: null });
    const parted = tip(rightAnswer, {
      messages: 4,
      firstText: `right ${'x'.repeat(194)}`,
      forkPoint: first.uuid,
      active: false,
      label: 'second try',
    });
    const active = tip(more, { messages: 4, firstText: 'root', forkPoint: null, active: true, label: 'begin' });
    assert.deepEqual(await store.branches(session), [lone, active, parted]);

    await store.moveLeaf(session, first.uuid);
    assert.deepEqual(await store.branches(session), [
      lone,
      tip(more, { messages: 4, firstText: 'left', forkPoint: first.uuid, active: false, label: null }),
      parted,
      tip(first, { messages: 2, firstText: 'root', forkPoint: null, active: true, label: 'begin' }),
    ]);
    await store.moveLeaf(session, null);
    assert.deepEqual(
      (await store.branches(session)).map(({ forkPoint, active, firstText }) => [forkPoint, active, firstText?.slice(0, 4)]),
      [
        [null, false, 'anot'],
        [null, false, 'root'],
        [null, false, 'root'],
      ],
    );
    await assert.rejects(store.branches(testUuid()), isInvalid);
  });

  it('finds where two branches part, also across sessions', async () => {
    const { root, first, rightAnswer, more } = await fork();
    const { uuid } = await store.forkSession(first.uuid, newFork());
    const inFork = userMessage(uuid, first.uuid, 'in the fork');
    await store.append(uuid, { entries: [inFork] });
    const other = userMessage(session, null, 'other');
    await append(other);
    assert.equal(await store.commonAncestor(rightAnswer.uuid, more.uuid), first.uuid);
    assert.equal(await store.commonAncestor(inFork.uuid, more.uuid), first.uuid);
    assert.equal(await store.commonAncestor(root.uuid, inFork.uuid), root.uuid);
    assert.equal(await store.commonAncestor(other.uuid, inFork.uuid), null);
    await assert.rejects(store.commonAncestor(root.uuid, testUuid()), isInvalid);
  });

  it('a page says where other branches begin, for a fork also those of its ancestors that it comes from', async () => {
    const { root, first, right, left, more } = await fork();
    const forksOf = async (uuid: string, query: { before?: string; limit: number } = { limit: 10 }) => {
      const { forks, beyondLeaf } = await store.page(uuid, query);
      return { forks: forks.map(({ entry, branches }) => ({ entry, branches })), beyondLeaf };
    };
    const parted = { entry: left.uuid, branches: [right.uuid, left.uuid] };
    assert.deepEqual(await forksOf(session), { forks: [parted], beyondLeaf: [] });
    assert.deepEqual(await forksOf(session, { limit: 1 }), { forks: [], beyondLeaf: [] });
    assert.deepEqual(await forksOf(session, { before: more.uuid, limit: 1 }), { forks: [parted], beyondLeaf: [] });

    const { uuid } = await store.forkSession(left.uuid, newFork());
    assert.deepEqual(await forksOf(uuid), { forks: [], beyondLeaf: [] }, 'what the other session does is not its own');
    const other = userMessage(uuid, first.uuid, 'not left');
    await store.append(uuid, { entries: [other] });
    assert.deepEqual(await forksOf(uuid), { forks: [{ entry: other.uuid, branches: [left.uuid, other.uuid] }], beyondLeaf: [] });
    assert.deepEqual((await store.branches(uuid)).map(({ leaf }) => leaf).sort(), [left.uuid, other.uuid].sort());

    await append(label(first.uuid, 'no branch'));
    await store.moveLeaf(session, first.uuid);
    assert.deepEqual(await forksOf(session), { forks: [], beyondLeaf: [right.uuid, left.uuid] });
    const second = userMessage(session, null, 'another root');
    await append(second);
    assert.deepEqual(await forksOf(session), { forks: [{ entry: second.uuid, branches: [root.uuid, second.uuid] }], beyondLeaf: [] });

    const begunAnew = userMessage(uuid, null, 'the fork, edited at its first message');
    await store.append(uuid, { entries: [begunAnew] });
    const roots = [root.uuid, begunAnew.uuid];
    assert.deepEqual(await forksOf(uuid), { forks: [{ entry: begunAnew.uuid, branches: roots }], beyondLeaf: [] });
    await store.moveLeaf(uuid, other.uuid);
    assert.deepEqual((await forksOf(uuid)).forks[0], { entry: root.uuid, branches: roots });
    await store.moveLeaf(uuid, null);
    assert.deepEqual(await forksOf(uuid), { forks: [], beyondLeaf: roots });
  });

  it('forks a session from any entry: shared past, own future', async () => {
    const { root, first, right, more } = await fork();
    await store.updateSession(session, {
      title: 'Fix it',
      model: 'p/m',
      thinkingLevel: 'high',
      policy: { a: 1 },
      costLimit: 2,
      metadata: { tags: ['x'] },
    });
    const pins = [
      { kind: 'file', target: 'a.ts' },
      { kind: 'entry', target: root.uuid },
      { kind: 'entry', target: right.uuid },
      { kind: 'entry', target: testUuid() },
    ] as const;
    for (const pin of pins) await store.savePin({ session, contentHash: null, at: 5, ...pin });
    const made = await store.forkSession(first.uuid, newFork());
    const expected = {
      title: 'Fix it (fork)',
      model: 'p/m',
      thinkingLevel: 'high',
      policy: { a: 1 },
      costLimit: 2,
      metadata: {},
      parentSession: session,
      forkEntry: first.uuid,
      leaf: first.uuid,
      messageCount: 0,
      totalTokens: 0,
    };
    assert.deepEqual(made, { ...made, ...expected });
    assert.deepEqual((await store.pins(made.uuid)).map(({ target }) => target).sort(), [root.uuid, 'a.ts'].sort());
    assert.deepEqual(await store.forkSession(more.uuid, { ...newFork(), uuid: made.uuid }), made, 'the same fork again');

    const inFork = userMessage(made.uuid, first.uuid, 'other way');
    await store.append(made.uuid, { entries: [inFork] });
    assert.deepEqual(
      (await store.liveBranch(made.uuid)).entries.map(({ uuid }) => uuid),
      [root.uuid, first.uuid, inFork.uuid],
    );
    assert.deepEqual(
      (await store.branches(made.uuid)).map(({ leaf, messages, firstText }) => [leaf, messages, firstText]),
      [[inFork.uuid, 3, 'root']],
    );
    assert.deepEqual((await store.session(session))?.leaf, more.uuid);
    assert.equal((await store.branches(session)).length, 2);

    const again = await store.forkSession(inFork.uuid, newFork());
    assert.deepEqual(
      { title: again.title, parentSession: again.parentSession, messageCount: again.messageCount },
      { title: 'Fix it (fork 2)', parentSession: made.uuid, messageCount: 0 },
    );
    assert.equal((await store.forkSession(first.uuid, { ...newFork(), title: 'Own', model: null })).title, 'Own');
    assert.deepEqual(
      (await store.listSessions({ parent: made.uuid })).map(({ uuid }) => uuid),
      [again.uuid],
    );
  });

  it('tells the sizes along the active branch without reading what it says', async () => {
    const { root, first, left, more } = await fork();
    const mark = userMessage(session, first.uuid, '', {
      modelFacing: false,
      tokenEstimate: null,
      content: {
        type: 'checkpoint',
        summary: 's',
        topics: [],
        keyDecisions: [],
        openQuestions: [],
        tokensAtCheckpoint: 5,
        messagesAtCheckpoint: 2,
        coversThrough: first.uuid,
      },
    });
    const usage = { provider: 'p', model: 'm', input: 10, output: 2, cacheRead: 300, cacheWrite: 4_000, cost: null, at: 1 } as const;
    await store.append(session, {
      entries: [mark, label(left.uuid, 'here')],
      usage: [
        { ...usage, entry: more.uuid, kind: 'turn' },
        { ...usage, entry: first.uuid, kind: 'compaction' },
      ],
    });
    await store.moveLeaf(session, more.uuid);
    const step = ({ uuid: entry, createdAt: at }: NewEntry, measured: number | null = null) => ({
      entry,
      type: 'message',
      at,
      modelFacing: true,
      tokens: 3,
      measured,
    });
    const expected = [
      step(root),
      step(first),
      step(left),
      step(more, 4_312),
      { entry: mark.uuid, type: 'checkpoint', at: mark.createdAt, modelFacing: false, tokens: null, measured: null },
    ];
    assert.deepEqual(await store.branchSteps(session), expected);
    const empty = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: 1 });
    assert.deepEqual(await store.branchSteps(empty.uuid), []);
  });

  it('refuses to fork where nothing can follow', async () => {
    const { root } = await fork();
    const mark = label(root.uuid, 'x');
    await append(mark);
    for (const entry of [mark.uuid, testUuid()]) await assert.rejects(store.forkSession(entry, newFork()), isInvalid);
    assert.deepEqual(await store.listSessions({ parent: session }), []);
  });
});

function isInvalid(error: unknown): boolean {
  return StoreError.is(error) && error.reason === 'invalid';
}
