import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../../src/core/errors';
import type { StoreStatus } from '../../../../src/core/ports';
import { Connection } from '../../../../src/node/store/database/connection';
import { defaultTiming } from '../../../../src/node/store/sharing/lease';
import { migrate, schemaVersion } from '../../../../src/node/store/database/migrations';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import type { Sqlite } from '../../../../src/node/store/wasm/sqlite';
import { openForWriting } from '../../../../src/node/store/database/storeDatabase';
import { readGeneration, storeFiles } from '../../../../src/node/store/database/storeFiles';
import { openOperations } from '../../../../src/node/store/owner/storeOperations';
import type { StoreSupervisor } from '../../../../src/node/store/owner/storeSupervisor';
import { openHost, tempFolder, testUuid, userMessage, wasmFile } from '../../../support/store/storeTemp';
import type { TempFolder } from '../../../support/store/storeTemp';
import { waitFor } from '../../../support/waitFor';

describe('store: owners and readers', () => {
  let temp: TempFolder;
  let sqlite: Sqlite;
  const hosts: StoreSupervisor[] = [];

  before(async () => {
    sqlite = await loadSqlite(wasmFile);
  });
  beforeEach(() => {
    temp = tempFolder();
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
    temp.remove();
  });

  const open = async (...options: Parameters<typeof openHost> extends [string, ...infer Rest] ? Rest : never) => {
    const host = await openHost(temp.path, ...options);
    hosts.push(host);
    return host;
  };
  const newSession = async (host: StoreSupervisor) =>
    (await host.call('createSession', [{ uuid: testUuid(), channel: 'cli', createdAt: 1 }])).uuid;
  const say = async (host: StoreSupervisor, session: string, text: string) => {
    const { leaf } = (await host.call('session', [session]))!;
    const [entry] = await host.call('append', [session, { entries: [userMessage(session, leaf, text)] }]);
    return entry!.uuid;
  };
  const said = async (host: StoreSupervisor, session: string) =>
    (await host.call('liveBranch', [session])).entries.map((entry) => ('text' in entry.content ? entry.content.text : ''));

  it('opens a copy on request, and sees what was written when it refreshes', async () => {
    const owner = await open();
    const session = await newSession(owner);
    await say(owner, session, 'one');
    const news: StoreStatus[] = [];
    const reader = await open({ pollMs: 10, readonly: true }, (status) => news.push(status));
    assert.deepEqual(
      { access: owner.status.access, durability: owner.status.durability, note: owner.status.note },
      { access: 'owner', durability: 'file', note: null },
    );
    assert.deepEqual([reader.status.access, reader.status.note?.reason], ['readonly', 'other_owner']);
    assert.deepEqual(await said(reader, session), ['one']);
    await assert.rejects(say(reader, session, 'x'), hasReason('readonly'));

    await say(owner, session, 'two');
    await waitFor('the news', () => news.length > 0, { interval: 5 });
    assert.deepEqual(await said(reader, session), ['one']);
    await reader.refresh();
    assert.deepEqual(await said(reader, session), ['one', 'two']);
    await owner.refresh();

    await owner.close();
    await reader.refresh();
    assert.deepEqual(await said(reader, session), ['one', 'two']);
    await assert.rejects(owner.call('session', [session]), hasReason('closed'));
  });

  it('reads a consistent copy at any moment of a busy owner', async () => {
    const owner = await open();
    const session = await newSession(owner);
    const reader = await open({ readonly: true });
    for (let i = 1; i <= 15; i++) {
      // Large enough for a checkpoint every few rounds.
      await say(owner, session, `${i}`.repeat(200_000));
      if (i % 3 === 0) {
        await reader.refresh();
        assert.equal((await said(reader, session)).length, i);
      }
    }
  });

  it('does not recover, as a reader, what the owner is still streaming', async () => {
    const owner = await open();
    const session = await newSession(owner);
    const chunk = {
      entry: testUuid(),
      session,
      parent: null,
      kind: 'message',
      provider: 'p',
      model: 'm',
      createdAt: 1,
      text: 'He',
    } as const;
    await owner.call('writePartial', [chunk]);
    const reader = await open({ readonly: true });
    assert.deepEqual(await reader.call('recoverPartials', [session]), []);
  });

  it('turns the chunks of a dead owner into interrupted entries', async () => {
    const files = storeFiles(temp.path);
    const dead = openForWriting(sqlite, files, () => undefined, 'file');
    const core = openOperations(dead.connection, temp.path, 'owner');
    const session = core.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 }).uuid;
    const question = userMessage(session, null, 'question');
    core.append(session, { entries: [question] });
    const thought = {
      entry: testUuid(),
      session,
      parent: question.uuid,
      kind: 'thinking',
      provider: 'p',
      model: 'm',
      createdAt: 5,
    } as const;
    core.writePartial({ ...thought, text: 'hm\ud83d' });
    core.writePartial({ ...thought, text: '\ude00 yes' });
    const answer = { ...thought, entry: testUuid(), parent: thought.entry, kind: 'message', createdAt: 6 } as const;
    core.writePartial({ ...answer, text: 'Hel' });
    core.writePartial({ ...answer, text: 'lo' });
    core.writePartial({ ...answer, entry: testUuid(), text: '' });
    const lost = { ...answer, entry: testUuid(), parent: testUuid() };
    core.writePartial({ ...lost, text: 'its parent was never stored' });
    dead.abandon();

    const owner = await open();
    const recovered = await owner.call('recoverPartials', [session]);
    assert.deepEqual(
      recovered.map(({ uuid, parent, modelFacing, content }) => ({ uuid, parent, modelFacing, content })),
      [
        {
          uuid: thought.entry,
          parent: question.uuid,
          modelFacing: false,
          content: { type: 'thinking', text: 'hm😀 yes', provider: 'p', model: 'm', interrupted: 'crashed' },
        },
        {
          uuid: answer.entry,
          parent: thought.entry,
          modelFacing: true,
          content: { type: 'message', role: 'assistant', text: 'Hello', provider: 'p', model: 'm', interrupted: 'crashed' },
        },
        {
          uuid: lost.entry,
          parent: answer.entry,
          modelFacing: true,
          content: {
            type: 'message',
            role: 'assistant',
            text: 'its parent was never stored',
            provider: 'p',
            model: 'm',
            interrupted: 'crashed',
          },
        },
      ],
    );
    assert.equal((await owner.call('session', [session]))?.leaf, lost.entry);
    assert.deepEqual(await owner.call('recoverPartials', [session]), []);
  });

  it('leaves the leaf where the user has moved on to when it recovers', async () => {
    const dead = openForWriting(sqlite, storeFiles(temp.path), () => undefined, 'file');
    const core = openOperations(dead.connection, temp.path, 'owner');
    const session = core.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 }).uuid;
    const [first, second] = [userMessage(session, null, 'first'), userMessage(session, null, 'second')];
    core.append(session, { entries: [first, second] });
    core.writePartial({
      entry: testUuid(),
      session,
      parent: first.uuid,
      kind: 'message',
      provider: 'p',
      model: 'm',
      createdAt: 1,
      text: 'x',
    });
    dead.abandon();
    const owner = await open();
    assert.equal((await owner.call('recoverPartials', [session]))[0]?.parent, first.uuid);
    assert.equal((await owner.call('session', [session]))?.leaf, second.uuid);
  });

  it('stops writing the moment its lease is lost, and goes on as a reader', async () => {
    const statuses: StoreStatus[] = [];
    const owner = await open({ reopenMs: 0 }, (status) => statuses.push(status));
    const session = await newSession(owner);
    await say(owner, session, 'one');
    const files = storeFiles(temp.path);
    const lease = readFileSync(files.lease, 'utf8');
    writeFileSync(files.lease, lease.replace(owner.nonce!, 'somebody-else'));
    const before = [readFileSync(files.main), readFileSync(files.wal)];

    // Who has it now cannot be reached.
    await assert.rejects(say(owner, session, 'two'), hasReason('readonly'));
    assert.match(owner.status.note!.detail, new RegExp(`test, process ${process.pid}`));
    assert.deepEqual(await said(owner, session), ['one']);
    assert.deepEqual(
      statuses.map((status) => [status.access, status.note?.reason]),
      [['readonly', 'other_owner']],
    );
    await assert.rejects(say(owner, session, 'three'), hasReason('readonly'));
    assert.deepEqual([readFileSync(files.main), readFileSync(files.wal)], before);
    rmSync(files.lease);
  });

  it('takes the store again when its lease has merely been deleted', async () => {
    const owner = await open();
    const session = await newSession(owner);
    rmSync(storeFiles(temp.path).lease);
    await say(owner, session, 'one');
    assert.deepEqual([owner.status.access, await said(owner, session)], ['owner', ['one']]);
  });

  it('takes over from an owner that ends while it waits', async () => {
    const first = await open();
    const waiting = openHost(temp.path, { waitForOwnerMs: 10_000, timing: { ...defaultTiming, pollMs: 5 } });
    await first.close();
    const second = await waiting;
    hosts.push(second);
    assert.equal(second.status.access, 'owner');
  });

  it('opens a store of a newer program for reading, and does not touch it', async () => {
    const owner = await open();
    const session = await newSession(owner);
    await say(owner, session, 'one');
    await owner.close();
    const files = storeFiles(temp.path);
    const newer = sqlite.openFiles(files);
    newer.database.run('PRAGMA locking_mode = EXCLUSIVE; PRAGMA user_version = 99;');
    newer.database.close();
    sqlite.release(newer.binding);
    const before = readFileSync(files.main);

    const reader = await open();
    assert.deepEqual([reader.status.access, reader.status.note?.reason], ['readonly', 'newer_schema']);
    assert.match(reader.status.note!.detail, /newer version of Threadkeeper \(99;/);
    assert.deepEqual(await said(reader, session), ['one']);
    assert.deepEqual(readFileSync(files.main), before);
    assert.equal(existsSync(files.lease), false);
  });

  it('opens a folder it may not write for reading', async function () {
    if (process.platform === 'win32') return this.skip();
    const isRoot = process.getuid?.() === 0;
    const parent = dirname(temp.path);
    // Permissions do not bind root, so it becomes nobody for the moment; nobody has to get as far as the folder.
    if (isRoot) chmodSync(parent, (statSync(parent).mode & 0o7777) | 0o011);
    const asNobody = isRoot ? () => process.seteuid!(65534) : () => undefined;
    const owner = await open();
    const session = await newSession(owner);
    await say(owner, session, 'one');
    await owner.close();
    const { main } = storeFiles(temp.path);
    chmodSync(main, 0o444);
    chmodSync(temp.path, 0o555);
    try {
      asNobody();
      const reader = await open();
      assert.deepEqual([reader.status.access, reader.status.note?.reason], ['readonly', 'folder_readonly']);
      assert.deepEqual(await said(reader, session), ['one']);
      await reader.close();
      await assert.rejects(openHost(join(temp.path, 'below')), hasReason('permission'));
    } finally {
      if (isRoot) process.seteuid!(0);
      chmodSync(temp.path, 0o755);
    }
  });

  it('runs on SQLite in memory with an export per commit when the self-test fails', async () => {
    const files = storeFiles(temp.path);
    // What an earlier run with the file bridge left behind when it was killed: a log beside the file.
    const killed = openForWriting(sqlite, files, () => undefined, 'file');
    const core = openOperations(killed.connection, temp.path, 'owner');
    const session = core.createSession({ uuid: testUuid(), channel: 'cli', createdAt: 1 }).uuid;
    const first = userMessage(session, null, 'in the log only');
    core.append(session, { entries: [first] });
    killed.abandon();
    assert.ok(statSync(files.wal).size > 0);

    const exported = openForWriting(sqlite, files, () => undefined, 'export');
    assert.equal(existsSync(files.wal), false);
    const memory = openOperations(exported.connection, temp.path, 'owner');
    assert.deepEqual(memory.entries([first.uuid]).length, 1);
    const second = userMessage(session, first.uuid, 'second');
    memory.append(session, { entries: [second] });

    // The folder is out of reach for a moment: the commit is undone, the next one is fine.
    const third = userMessage(session, second.uuid, 'third');
    renameSync(temp.path, `${temp.path}-away`);
    assert.throws(() => memory.append(session, { entries: [third] }), hasReason('io'));
    assert.deepEqual(memory.entries([third.uuid]), []);
    renameSync(`${temp.path}-away`, temp.path);
    memory.append(session, { entries: [userMessage(session, second.uuid, 'fourth')] });
    assert.equal(
      readdirSync(temp.path).some((name) => name.endsWith('.tmp')),
      false,
    );

    // Nothing was closed: what was acknowledged is in the file, for the bridge as well.
    const owner = await open();
    assert.deepEqual(await said(owner, session), ['in the log only', 'second', 'fourth']);
    exported.close();
  });

  it('migrates in numbered steps, keeping a copy first, and stays where a step failed', () => {
    const database = sqlite.openMemory();
    const connection = new Connection(database, { file: 'x.db', beforeCommit: () => undefined });
    const copies: number[] = [];
    const steps = [
      { to: 1, sql: 'CREATE TABLE a(x)' },
      { to: 2, sql: 'CREATE TABLE b(x)' },
      { to: 3, sql: 'CREATE TABLE c(x); INSERT INTO nowhere VALUES (1)' },
    ];
    migrate(connection, (version) => copies.push(version), steps.slice(0, 1));
    assert.deepEqual([schemaVersion(connection), copies], [1, []]);
    assert.throws(() => migrate(connection, (version) => copies.push(version), steps), StoreError);
    assert.deepEqual([schemaVersion(connection), copies], [2, [1]]);
    assert.deepEqual(connection.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"), [{ name: 'a' }, { name: 'b' }]);
    assert.throws(() => migrate(connection, () => undefined, steps.slice(0, 1)), hasReason('newer_schema'));
    connection.close();
  });

  it('counts its openings outside the file as well, and leaves one file behind', async () => {
    for (const expected of [1, 2, 3]) {
      const owner = await openHost(temp.path);
      assert.equal(readGeneration(storeFiles(temp.path)), expected);
      await owner.close();
    }
    writeFileSync(join(temp.path, 'selftest-left-behind'), 'x');
    await (await openHost(temp.path)).close();
    assert.deepEqual(readdirSync(temp.path).sort(), ['generation.json', 'selftest.json', 'threadkeeper.db']);
  });
});

function hasReason(reason: StoreError['reason']): (error: unknown) => boolean {
  return (error) => StoreError.is(error) && error.reason === reason;
}
