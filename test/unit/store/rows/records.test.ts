import assert from 'node:assert/strict';
import { StoreError } from '../../../../src/core/errors';
import type { Pin } from '../../../../src/core/session/storage';
import type { SessionStore } from '../../../../src/core/ports';
import { SearchStore } from '../../../support/store/searchStore';
import { compactionContent } from '../../../support/chat/compactionContent';
import { openTestStore, tempFolder, testUuid, userMessage, type TempFolder } from '../../../support/store/storeTemp';

describe('store: what belongs to a session', () => {
  let temp: TempFolder;
  let store: SessionStore;
  let session: string;

  beforeEach(async () => {
    temp = tempFolder();
    store = await openTestStore(temp.path);
    session = (await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: 1 })).uuid;
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  it('keeps one pin of each target', async () => {
    const pin: Pin = { session, kind: 'text', target: 'half \ud83d', contentHash: null, at: 2 };
    const file: Pin = { session, kind: 'file', target: 'a.ts', contentHash: 'h', at: 1 };
    await store.savePin({ ...pin, at: 9 });
    for (const one of [pin, file]) await store.savePin(one);
    assert.deepEqual(await store.pins(session), [file, pin]);
    await store.removePin(session, 'text', pin.target);
    await store.removePin(session, 'file', 'b.ts');
    assert.deepEqual(await store.pins(session), [file]);
    await assert.rejects(store.savePin({ ...pin, session: testUuid() }), isInvalid);
  });

  it('remembers which summaries to make again, those of trashed sessions apart', async () => {
    const fold = userMessage(session, null, '', { content: compactionContent('op', null) });
    const note = userMessage(session, fold.uuid, 'no compaction');
    await store.append(session, { entries: [fold, note] });
    await store.saveSummaryRetry({ compaction: fold.uuid, nextAt: 10, attempts: 1 });
    await store.saveSummaryRetry({ compaction: fold.uuid, nextAt: 20, attempts: 2 });
    const expected = [{ compaction: fold.uuid, session, nextAt: 20, attempts: 2 }];
    assert.deepEqual(
      [await store.summaryRetries(), await store.summaryRetries(session), await store.summaryRetries(testUuid())],
      [expected, expected, []],
    );
    await store.updateSession(session, { deletedAt: 1 });
    assert.deepEqual([await store.summaryRetries(), await store.summaryRetries(session)], [[], expected]);
    await store.removeSummaryRetry(fold.uuid);
    assert.deepEqual(await store.summaryRetries(session), []);
    await assert.rejects(store.saveSummaryRetry({ compaction: note.uuid, nextAt: 1, attempts: 1 }), isInvalid);
  });

  it('stores note writes with the entries that made them, once', async () => {
    const entry = userMessage(session, null, 'noted');
    const write = { entry: entry.uuid, path: 'a.md', op: 'create', bytes: 3, at: 4 };
    const batch = { entries: [entry], memoryWrites: [write, { ...write, path: 'b.md', at: 5 }] };
    for (let i = 0; i < 2; i++) await store.append(session, batch);
    assert.deepEqual(await store.memoryWrites(session, { limit: 10 }), [batch.memoryWrites[1], write]);
    assert.deepEqual(await store.memoryWrites(session, { limit: 1 }), [batch.memoryWrites[1]]);
    const orphan = userMessage(session, null, 'lost with its write');
    await assert.rejects(store.append(session, { entries: [orphan], memoryWrites: [{ ...write, entry: testUuid() }] }), isInvalid);
    assert.deepEqual(await store.entries([orphan.uuid]), []);
  });

  it('sums usage by model', async () => {
    const record = {
      entry: 'e',
      provider: 'p',
      model: 'm',
      kind: 'turn',
      input: 1,
      output: 2,
      cacheRead: 3,
      cacheWrite: 4,
      cost: 0.5,
      at: 10,
    } as const;
    await store.append(session, {
      entries: [],
      usage: [record, { ...record, at: 20 }, { ...record, at: 30, model: 'free', cost: null, estimated: true }],
    });
    const total = {
      provider: 'p',
      model: 'm',
      requests: 2,
      input: 2,
      output: 4,
      cacheRead: 6,
      cacheWrite: 8,
      cost: 1,
      requestsWithoutCost: 0,
      requestsEstimated: 0,
    };
    const free = {
      provider: 'p',
      model: 'free',
      requests: 1,
      input: 1,
      output: 2,
      cacheRead: 3,
      cacheWrite: 4,
      cost: null,
      requestsWithoutCost: 1,
      requestsEstimated: 1,
    };
    assert.deepEqual(await store.usageTotals({ session }), [total, free]);
    assert.deepEqual(await store.usageTotals({ from: 20, to: 30 }), [
      { ...total, requests: 1, input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost: 0.5 },
      free,
    ]);
    assert.deepEqual(await store.usageTotals({ session: testUuid() }), []);
  });

  it('lists sessions by tag, title, id and metadata', async () => {
    const create = async (title: string, metadata: Record<string, unknown>) =>
      (await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: new Date(2031, 0, 2).getTime(), title, metadata })).uuid;
    const a = await create('ÜBER tests', { tags: ['bug', 'ui'], priority: 1, done: true, 'odd "key"': 'x' });
    const b = await create('half \ud83d', { tags: ['ui'], priority: 1.5, done: 1 });
    const list = async (query: Parameters<SessionStore['listSessions']>[0]) => (await store.listSessions(query)).map(({ uuid }) => uuid);
    assert.deepEqual(await list({ tag: 'ui' }), [b, a]);
    assert.deepEqual(await list({ tag: 'ui', limit: 1 }), [b]);
    assert.deepEqual(await list({ tag: 'bug' }), [a]);
    assert.deepEqual(await list({ tag: 'u' }), []);
    assert.deepEqual(await list({ text: 'über' }), [a]);
    assert.deepEqual(await list({ text: '20310102_002' }), [b]);
    assert.deepEqual([await list({ metadata: { priority: 1 } }), await list({ metadata: { priority: 1.5, done: 1 } })], [[a], [b]]);
    assert.deepEqual(
      [
        await list({ metadata: { done: true } }),
        await list({ metadata: { 'odd "key"': 'x' } }),
        await list({ metadata: { priority: '1' } }),
      ],
      [[a], [a], []],
    );
    await store.updateSession(a, { metadata: { tags: ['new'] } });
    assert.deepEqual([await list({ tag: 'bug' }), await list({ tag: 'new' })], [[], [a]]);
  });

  it('changes the metadata that it is told to, and leaves alone what others have set', async () => {
    const { uuid } = await store.createSession({
      uuid: testUuid(),
      channel: 'vscode',
      createdAt: 1,
      metadata: { tags: ['a'], importedFrom: { title: 'x' }, nothing: null },
    });
    await Promise.all([
      store.updateSession(uuid, { metadata: { tags: ['b'] } }),
      store.updateSession(uuid, { metadata: { importedFrom: { title: 'y' }, tools: ['t'] } }),
    ]);
    assert.deepEqual((await store.session(uuid))?.metadata, { tags: ['b'], importedFrom: { title: 'y' }, nothing: null, tools: ['t'] });
    assert.deepEqual((await store.updateSession(uuid, { metadata: { tools: null } })).metadata, {
      tags: ['b'],
      importedFrom: { title: 'y' },
      nothing: null,
    });
  });

  it('has metadata that plain SQL can query, and lists sessions whose metadata another tool has broken', async () => {
    const own = tempFolder();
    const { core, database } = await SearchStore.open(own.path);
    for (const tag of ['x', 'y']) core.createSession({ uuid: tag, channel: 'cli', createdAt: 1, metadata: { tags: [tag] } });
    const query =
      "SELECT uuid, json_extract(metadata, '$.tags[0]') AS tag FROM sessions WHERE json_extract(metadata, '$.tags') LIKE '%\"y\"%'";
    assert.deepEqual(database.connection.all(query), [{ uuid: 'y', tag: 'y' }]);
    database.connection.run("UPDATE sessions SET metadata = '{broken' WHERE uuid = 'x'");
    assert.deepEqual(
      core.listSessions({ tag: 'y' }).map(({ uuid }) => uuid),
      ['y'],
    );
    assert.deepEqual(
      core.listSessions().map(({ metadata }) => metadata),
      [{ tags: ['y'] }, {}],
    );
    database.close();
    own.remove();
  });
});

function isInvalid(error: unknown): boolean {
  return StoreError.is(error) && error.reason === 'invalid';
}
