import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { CancelledError, StoreError } from '../../../../src/core/errors';
import type { SessionStore, StoreStatus } from '../../../../src/core/ports';
import { openStore, storeInWorker } from '../../../../src/node/store/client/openStore';
import { tempFolder, testUuid, userMessage, workerFile } from '../../../support/store/storeTemp';
import type { TempFolder } from '../../../support/store/storeTemp';

describe('store: in its worker', () => {
  let temp: TempFolder;
  const stores: SessionStore[] = [];
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    temp.remove();
  });

  const open = async (options: Partial<Parameters<typeof openStore>[0]> = {}) => {
    const store = await openStore({ folder: join(temp.path, 'new', 'folder'), workerFile, label: 'test', waitForOwnerMs: 0, ...options });
    stores.push(store);
    return store;
  };

  it('stores and returns long branches whole, and leaves one file behind', async () => {
    const store = await open();
    assert.deepEqual(store.status, {
      access: 'owner',
      durability: 'file',
      note: null,
      file: join(temp.path, 'new', 'folder', 'threadkeeper.db'),
    });
    const session = await store.createSession({ uuid: testUuid(), channel: 'vscode', createdAt: Date.now() });
    const entries = [userMessage(session.uuid, null, 'a\0b')];
    while (entries.length < 750) entries.push(userMessage(session.uuid, entries.at(-1)!.uuid, `text ${entries.length}`));
    const stored = await store.append(session.uuid, { entries });
    assert.deepEqual(
      stored.map(({ seq: _, ...entry }) => entry),
      entries,
    );
    const branch = await store.liveBranch(session.uuid);
    assert.deepEqual([branch.entries, branch.lastUsage], [stored, null]);
    assert.deepEqual((await store.entriesBySeq(Array.from({ length: 300 }, (_, i) => i + 1))).length, 300);
    assert.deepEqual(await store.session('nobody'), undefined);
    assert.equal(await store.saveDraft(session.uuid, { text: 'd', attachments: [], at: 1 }), undefined);
    await store.close();
    await store.close();
    assert.deepEqual(readdirSync(join(temp.path, 'new', 'folder')).sort(), ['generation.json', 'selftest.json', 'threadkeeper.db']);
    await assert.rejects(store.session(session.uuid), hasReason('closed'));
  });

  it('keeps a text of 60 MB whole', async () => {
    const store = await open();
    const { uuid } = await store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 });
    const entry = userMessage(uuid, null, `${'漢'.repeat(20e6)} and its end`);
    await store.append(uuid, { entries: [entry] });
    await store.close();
    const [found] = await (await open()).entries([entry.uuid]);
    assert.ok(
      found && 'text' in found.content && 'text' in entry.content && found.content.text === entry.content.text,
      'not deepEqual, which would print it',
    );
  }).timeout(30_000);

  it('lets errors cross with their reason', async () => {
    const store = await open();
    await assert.rejects(store.append('nobody', { entries: [] }), hasReason('invalid'));
    const reader = await open({ readonly: true });
    assert.equal(reader.status.note?.reason, 'other_owner');
    await assert.rejects(open({ folder: join(temp.path, 'nothing'), readonly: true }), hasReason('io'));
    await assert.rejects(reader.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 }), hasReason('readonly'));
    mkdirSync(join(temp.path, 'broken'));
    writeFileSync(join(temp.path, 'broken', 'threadkeeper.db'), 'not a database');
    assert.equal((await open({ folder: join(temp.path, 'broken') })).status.note?.reason, 'recovered');
    await assert.rejects(open({ workerFile: join(temp.path, 'missing.js') }), hasReason('io'));
  });

  it('stops waiting for the owner when asked to', async () => {
    const store = await open();
    // An owner of another version, which does not share.
    const lease = join(temp.path, 'new', 'folder', 'owner.lease');
    writeFileSync(lease, readFileSync(lease, 'utf8').replace(/"version":"[^"]*"/, '"version":"another"'));
    const stop = new AbortController();
    const waiting = openStore({
      folder: join(temp.path, 'new', 'folder'),
      workerFile,
      label: 'second',
      waitForOwnerMs: 60_000,
      signal: stop.signal,
    });
    stop.abort();
    await assert.rejects(waiting, CancelledError);
    await assert.rejects(open({ signal: stop.signal }), CancelledError);
    assert.equal((await store.listSessions()).length, 0);
  });

  it('tells a reader that there is something new', async () => {
    const store = await open();
    const reader = await open({ readonly: true });
    const news = new Promise<StoreStatus>((resolve) => reader.onDidChangeStatus(resolve));
    await store.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 });
    assert.equal((await news).access, 'readonly');
    await reader.refresh();
    assert.equal((await reader.listSessions()).length, 1);
  });

  it('rejects what is waiting when the worker dies, and frees the lease', async () => {
    const folder = join(temp.path, 'crash');
    mkdirSync(folder);
    const lease = join(folder, 'owner.lease');
    writeFileSync(
      lease,
      JSON.stringify({
        nonce: 'mine',
        label: 'x',
        since: 1,
        process: { pid: 1, host: 'h', bootId: null, pidNamespace: null, startTime: null },
      }),
    );
    const status: StoreStatus = { access: 'owner', durability: 'file', note: null, file: 'x' };
    for (const code of ["throw new Error('boom')", 'process.exit(3)']) {
      const worker = new Worker(`require('node:worker_threads').parentPort.once('message', () => { ${code} })`, { eval: true });
      const store = storeInWorker(worker, folder, { type: 'opened', status, nonce: 'mine', calls: ['session', 'listSessions'] }, undefined);
      const outcomes = await Promise.allSettled([store.session('a'), store.listSessions(), store.refresh()]);
      for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && hasReason('io')(outcome.reason));
      await assert.rejects(store.session('a'), /worker (failed: boom|ended with code 3)/);
      assert.equal(existsSync(lease), false);
      await store.close();
    }
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
