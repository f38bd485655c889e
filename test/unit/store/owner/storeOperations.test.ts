import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { NewEntry, StoredEntry } from '../../../../src/core/session/entry';
import { StoreError } from '../../../../src/core/errors';
import type { SessionStore } from '../../../../src/core/ports';
import { compactionContent } from '../../../support/chat/compactionContent';
import { openTestStore, tempFolder, testUuid, userMessage } from '../../../support/store/storeTemp';

describe('store: sessions and entries', () => {
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
    session = (await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: Date.now() })).uuid;
  });

  const append = (...entries: NewEntry[]) => store.append(session, { entries });
  const leaf = async () => (await store.session(session))?.leaf;
  const texts = (entries: readonly StoredEntry[]) =>
    entries.map((entry) => ('text' in entry.content ? entry.content.text : entry.content.type));
  const chain = async (...words: string[]) => {
    const entries: NewEntry[] = [];
    for (const word of words) entries.push(userMessage(session, entries.at(-1)?.uuid ?? null, word));
    await append(...entries);
    return entries.map((entry) => entry.uuid);
  };

  it('numbers sessions by local day and never reuses a number', async () => {
    const createdAt = new Date(2031, 4, 6, 23, 59).getTime();
    const create = (key?: string) => store.createSession({ uuid: testUuid(), channel: 'cli', createdAt, ...(key ? { key } : {}) });
    assert.equal((await create()).id, '20310506_001');
    const second = await create();
    assert.equal(second.id, '20310506_002');
    assert.equal(second.key, 'cli:20310506_002');
    await store.updateSession(second.uuid, { deletedAt: 1 });
    assert.equal((await create()).id, '20310506_003');
    assert.equal((await store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: createdAt + 120_000 })).id, '20310507_001');
  });

  it('keeps the byte order mark that a pasted text begins with', async () => {
    const words = ['\ufeffpasted from a file', '\ufeff', 'in the \ufeff middle'];
    const uuids = await chain(...words);
    assert.deepEqual(texts(await store.entries(uuids)), words);
  });

  it('gets a session by its key instead of creating a second one', async () => {
    const first = await store.createSession({
      uuid: testUuid(),
      key: 'openclaw:agent:main',
      channel: 'openclaw',
      createdAt: 5,
      title: 'T',
      policy: { a: [1] },
    });
    const again = await store.createSession({ uuid: testUuid(), key: 'openclaw:agent:main', channel: 'openclaw', createdAt: 9 });
    assert.deepEqual(again, first);
    assert.deepEqual(first.policy, { a: [1] });
    assert.deepEqual(await store.createSession({ uuid: first.uuid, channel: 'cli', createdAt: 11 }), first);
  });

  it('changes what a patch names and lists by last activity, the trash apart', async () => {
    const changed = await store.updateSession(session, {
      title: 'Ünï\0\ud800',
      metadata: { tags: ['x'] },
      costLimit: 1.5,
      model: 'a/b',
      archivedAt: 7,
    });
    assert.equal(changed.title, 'Ünï\0\ud800');
    assert.deepEqual(changed.metadata, { tags: ['x'] });
    assert.deepEqual(
      { costLimit: changed.costLimit, model: changed.model, archivedAt: changed.archivedAt },
      { costLimit: 1.5, model: 'a/b', archivedAt: 7 },
    );
    assert.deepEqual(
      (await store.listSessions({ archived: true })).map((s) => s.uuid),
      [session],
    );
    await append(userMessage(session, null, 'later', { createdAt: Date.now() + 1e12 }));
    assert.equal((await store.listSessions({ limit: 1 }))[0]?.uuid, session);
    const count = await store.countSessions();
    await store.updateSession(session, { deletedAt: 3 });
    assert.equal(count, (await store.listSessions()).length + 1, 'the archive is counted');
    assert.equal(await store.countSessions(), count - 1, 'the trash is not');
    assert.equal(
      (await store.listSessions()).some((s) => s.uuid === session),
      false,
    );
    assert.equal(
      (await store.listSessions({ trashed: true })).some((s) => s.uuid === session),
      true,
    );
    await assert.rejects(store.updateSession(testUuid(), { title: 'x' }), isInvalid);
  });

  it('returns every kind of content exactly as it came, hostile text included', async () => {
    const hostile = ['', 'a\0b', '\ud800', 'x\udc00y', '👩‍👩‍👧 ü 日本語', 'r\r\nn', '\u2028"\\', 'x'.repeat(300_000)];
    const contents: NewEntry['content'][] = [
      ...hostile.map((text): NewEntry['content'] => ({ type: 'message', role: 'assistant', text, provider: 'p', model: 'm' })),
      { type: 'message', role: 'user', text: 'x', attachments: [{ kind: 'image', name: 'a\0', hash: 'h', mime: 'image/png' }] },
      { type: 'thinking', text: 't\ud800', signature: 's', durationMs: 4 },
      { type: 'tool_call', callId: 'c', name: 'read', input: { path: 'a\0b', nested: ['\ud800', null, 1.5] } },
      { type: 'tool_call', callId: 'd', name: 'none', input: null },
      { type: 'tool_result', callId: 'c', name: 'read', text: '\0', status: 'denied' },
      { type: 'nudge', percent: 50, text: 'n', injectAs: 'system', usedTokens: 9 },
      { type: 'custom', customType: 'error', data: { a: '\0' } },
      { type: 'custom_message', customType: 'c', text: 't' },
      { type: 'model_change', provider: 'p', model: 'm' },
      { type: 'branch_summary', text: 's', branchLeaf: 'b' },
      { type: 'tools_change', enabled: ['a', 'b'] },
      compactionContent('op-1', null, {
        summary: { logos: ['x'] },
        audit: { checked: 3, inSummary: 1, leftBehind: 3, missing: [], repaired: false },
        note: 'n',
      }),
      { type: 'compaction_undone', target: 'x', tokensRestored: 5 },
    ];
    const entries = contents.map((content) =>
      userMessage(session, null, '', { content, tokenEstimate: null, display: false, modelFacing: false }),
    );
    const stored = await append(...entries);
    assert.deepEqual(await store.entries(entries.map((entry) => entry.uuid)), stored);
    assert.deepEqual(
      stored.map(({ seq: _, ...entry }) => entry),
      entries,
    );
    assert.deepEqual(await store.entriesBySeq([stored[1]!.seq, 1e9, stored[0]!.seq]), [stored[1], stored[0]]);
  });

  it('keeps a source id once per store', async () => {
    const imported = userMessage(session, null, 'x', { sourceId: 'claude:1' });
    assert.equal((await append(imported))[0]?.sourceId, 'claude:1');
    await assert.rejects(append(userMessage(session, null, 'y', { sourceId: 'claude:1' })), isInvalid);
  });

  it('takes the same entry twice and refuses another one under its uuid', async () => {
    const first = userMessage(session, null, 'one');
    const second = userMessage(session, first.uuid, 'two');
    const stored = await append(first, second);
    await store.moveLeaf(session, first.uuid);
    assert.deepEqual(await append(first, second), stored);
    assert.equal(await leaf(), first.uuid, 'a repeated append does not move the leaf');
    const third = userMessage(session, second.uuid, 'three');
    await append(second, third);
    assert.equal(await leaf(), third.uuid);
    assert.equal((await store.session(session))?.messageCount, 3);
    await assert.rejects(append({ ...first, content: { type: 'message', role: 'user', text: 'other' } }), isInvalid);
  });

  it('appends all of a batch or nothing', async () => {
    const good = userMessage(session, null, 'good');
    await assert.rejects(append(good, userMessage(session, testUuid(), 'orphan')), isInvalid);
    await assert.rejects(append(good, userMessage(testUuid(), null, 'foreign')), isInvalid);
    await assert.rejects(store.append(testUuid(), { entries: [] }), isInvalid);
    assert.deepEqual(await store.entries([good.uuid]), []);
    assert.equal(await leaf(), null);
  });

  it('lets nothing follow a side entry, which does not move the leaf either', async () => {
    const [root] = await chain('root');
    const mark = userMessage(session, root!, '', { content: { type: 'label', target: root!, label: 'here' } });
    await append(mark);
    assert.equal(await leaf(), root);
    await assert.rejects(append(userMessage(session, mark.uuid, 'x')), isInvalid);
    await assert.rejects(store.moveLeaf(session, mark.uuid), isInvalid);
  });

  it('keeps usage once and reports the newest measurement of the live branch', async () => {
    const [root] = await chain('root');
    const usage = {
      entry: root!,
      provider: 'p',
      model: 'm',
      kind: 'turn',
      input: 1,
      output: 2,
      cacheRead: 3,
      cacheWrite: 4,
      cost: null,
      at: 10,
    } as const;
    const answer = userMessage(session, root!, 'answer');
    await store.append(session, { entries: [answer], usage: [usage, { ...usage, entry: answer.uuid, at: 20, cost: 0.5 }] });
    await store.append(session, {
      entries: [answer],
      usage: [
        usage,
        { ...usage, entry: testUuid(), at: 30 },
        { ...usage, kind: 'compaction', at: 40 },
        { ...usage, kind: 'count', at: 15 },
      ],
    });
    assert.deepEqual((await store.liveBranch(session)).lastUsage, { ...usage, entry: answer.uuid, at: 20, cost: 0.5 });
    await store.moveLeaf(session, root!);
    assert.deepEqual((await store.liveBranch(session)).lastUsage, { ...usage, kind: 'count', at: 15 });
  });

  it('fills in token counts without touching content', async () => {
    const entry = userMessage(session, null, 'x', { tokenEstimate: null });
    await append(entry);
    await store.saveTokenCounts([{ entry: entry.uuid, tokens: 12 }]);
    await store.saveTokenCounts([{ entry: entry.uuid, tokens: 10 }]);
    assert.equal((await store.entries([entry.uuid]))[0]?.tokenEstimate, 10);
    assert.equal((await store.session(session))?.totalTokens, 10);
  });

  it('reads the live branch from the first kept entry of the newest compaction that counts', async () => {
    const [a, b, c] = await chain('a', 'b', 'c');
    const fold = userMessage(session, c!, '', { content: compactionContent('op-a', b!) });
    const after = userMessage(session, fold.uuid, 'after');
    await append(fold, after);
    const live = await store.liveBranch(session);
    assert.deepEqual(texts(live.entries), ['b', 'c', 'compaction', 'after']);

    const better = userMessage(session, after.uuid, '', { content: compactionContent('op-b', c!, { supersedes: fold.uuid }) });
    await append(better);
    assert.deepEqual(texts((await store.liveBranch(session)).entries), ['c', 'compaction', 'after', 'compaction']);

    const undone = userMessage(session, better.uuid, '', {
      content: { type: 'compaction_undone', target: better.uuid, tokensRestored: 1 },
    });
    await append(undone);
    const restored = await store.liveBranch(session);
    assert.equal(restored.entries[0]?.uuid, a);

    const whole = userMessage(session, undone.uuid, '', { content: compactionContent('op-c', null) });
    await append(whole);
    assert.deepEqual(
      (await store.liveBranch(session)).entries.map((entry) => entry.uuid),
      [whole.uuid],
    );
    await assert.rejects(append(userMessage(session, whole.uuid, '', { content: compactionContent('op-c', null) })), isInvalid);
    await store.moveLeaf(session, null);
    assert.deepEqual((await store.liveBranch(session)).entries, []);
  });

  it('follows a fork into the session it came from', async () => {
    const [a, b] = await chain('a', 'b');
    const fork = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: 1 });
    await store.append(fork.uuid, { entries: [userMessage(fork.uuid, a!, 'other way')] });
    assert.deepEqual(texts((await store.liveBranch(fork.uuid)).entries), ['a', 'other way']);
    assert.equal(await leaf(), b);
  });

  it('pages through the transcript, with side entries behind what they mark', async () => {
    const [a, b, c] = await chain('a', 'b', 'c');
    const hidden = userMessage(session, c!, 'hidden', { display: false });
    await append(hidden);
    const label = (parent: string, text: string) =>
      userMessage(session, parent, '', { content: { type: 'label', target: parent, label: text } });
    await append(
      label(b!, 'on b'),
      label(hidden.uuid, 'on hidden 1'),
      label(hidden.uuid, 'on hidden 2'),
      userMessage(session, hidden.uuid, 'd'),
    );
    const names = (entries: readonly StoredEntry[]) =>
      entries.map((entry) => (entry.content.type === 'label' ? entry.content.label : texts([entry])[0]));

    const newest = await store.page(session, { limit: 1 });
    assert.deepEqual([names(newest.entries), newest.hasMore], [['on hidden 1', 'on hidden 2', 'd'], true]);
    const middle = await store.page(session, { limit: 2, before: newest.entries[0]!.uuid });
    assert.deepEqual([names(middle.entries), middle.hasMore], [['b', 'on b', 'c'], true]);
    const oldest = await store.page(session, { limit: 2, before: middle.entries[0]!.uuid });
    assert.deepEqual([names(oldest.entries), oldest.hasMore], [['a'], false]);
    assert.deepEqual(await store.page(session, { limit: 5, before: a! }), { entries: [], hasMore: false, forks: [], beyondLeaf: [] });
    assert.deepEqual(names((await store.page(session, { limit: 50 })).entries), ['a', 'b', 'on b', 'c', 'on hidden 1', 'on hidden 2', 'd']);
  });

  it('keeps drafts, queue and calibration', async () => {
    const draft = {
      text: 'half a th\ud83d',
      attachments: [{ kind: 'selection' as const, name: 'a', hash: 'h', mime: 'text/plain', lines: [3, 9] as [number, number] }],
      at: 5,
    };
    await store.saveDraft(session, draft);
    assert.deepEqual(await store.draft(session), draft);
    await store.saveDraft(session, null);
    assert.equal(await store.draft(session), undefined);

    await store.saveQueue(session, [
      { id: '1', text: 'first' },
      { id: '2', text: 'second' },
    ]);
    await store.saveQueue(session, [
      { id: '2', text: 'second' },
      { id: '3', text: '' },
    ]);
    assert.deepEqual(await store.queue(session), [
      { id: '2', text: 'second' },
      { id: '3', text: '' },
    ]);

    await store.saveCalibration({ model: 'm', kind: 'text', factor: 1.2, n: 3 });
    await store.saveCalibration({ model: 'm', kind: 'text', factor: 1.3, n: 4 });
    assert.deepEqual(await store.calibration('m'), [{ model: 'm', kind: 'text', factor: 1.3, n: 4 }]);
  });

  it('puts what no entry has completed at the end of its branch, also when the conversation has gone on', async () => {
    const [root] = await chain('root');
    const chunk = { entry: testUuid(), session, parent: root!, kind: 'message', provider: 'p', model: 'm', createdAt: 3 } as const;
    await store.writePartial({ ...chunk, text: 'Hel' });
    const [next] = await append(userMessage(session, root!, 'next'));
    const [recovered] = await store.recoverPartials(session);
    assert.deepEqual([recovered?.uuid, recovered?.parent], [chunk.entry, next!.uuid]);
    assert.equal((await store.session(session))!.leaf, chunk.entry);
  });

  it('drops streamed chunks with the entry that completes them', async () => {
    const [root] = await chain('root');
    const chunk = { entry: testUuid(), session, parent: root!, kind: 'message', provider: 'p', model: 'm', createdAt: 3 } as const;
    await store.writePartial({ ...chunk, text: 'Hel' });
    await append(userMessage(session, root!, 'Hello', { uuid: chunk.entry }));
    await store.writePartial({ ...chunk, text: 'late' });
    await assert.rejects(store.writePartial({ ...chunk, session: testUuid(), text: '' }), isInvalid);
  });

  it('is one ordinary SQLite file after closing, in which no entry can be changed', async function () {
    const sqlite3 = commandThere('sqlite3');
    if (!sqlite3) {
      console.log('      (skipped: there is no sqlite3 command)');
      return this.skip();
    }
    const other = tempFolder();
    const own = await openTestStore(other.path);
    const { uuid } = await own.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 });
    await own.append(uuid, { entries: [userMessage(uuid, null, 'plain text')] });
    await own.close();
    const query = (sql: string) =>
      execFileSync('sqlite3', [`${other.path}/threadkeeper.db`, sql], { encoding: 'utf8', stdio: 'pipe' }).trim();
    assert.equal(query('PRAGMA integrity_check; PRAGMA journal_mode; SELECT sender, content FROM messages'), 'ok\ndelete\nuser|plain text');
    for (const sql of ["UPDATE entries SET role = 'x'", 'DELETE FROM entries', "UPDATE bodies SET text = ''", 'DELETE FROM bodies']) {
      assert.throws(() => query(sql), /append-only/);
    }
    other.remove();
  });
});

function commandThere(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function isInvalid(error: unknown): boolean {
  return StoreError.is(error) && error.reason === 'invalid';
}
