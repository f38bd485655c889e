import type { Sealer } from '../../../../src/core/sync/sealedRecord';
import type { LogRange } from '../../../../src/core/sync/syncEngine';
import type { Held } from '../../../../src/core/sync/syncReplica';
import { deepStrictEqual, ok } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { Connection } from '../../../../src/node/store/database/connection';
import { ProblemList, verifyDerived, verifyTree } from '../../../../src/node/store/repair/verifyContents';
import { newPageSize, storeFiles } from '../../../../src/node/store/database/storeFiles';
import { loadSqlite } from '../../../../src/node/store/wasm/sqlite';
import { projectRoot } from '../../../support/paths';
import { compactionContent } from '../../../support/chat/compactionContent';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { damaged, nextMillisecond, SyncDevice } from '../../../support/sync/syncRig';
import { openHost, testUuid, userMessage, wasmFile } from '../../../support/store/storeTemp';

const clean = { refilled: 0, renewed: false, problems: [] };

describe('stores with one history', function () {
  this.timeout(20_000);
  let engine: MemoryEngine;
  let one: SyncDevice;
  let two: SyncDevice;
  beforeEach(async () => {
    engine = new MemoryEngine();
    one = await SyncDevice.open();
    two = await SyncDevice.open();
  });
  afterEach(async () => {
    await one.close();
    await two.close();
  });

  const meet = async () => {
    for (const device of [one, two, one, two]) deepStrictEqual(await device.sync(engine).then(({ problems }) => problems), []);
  };

  it('note nothing where synchronising is off, and leave nothing behind when it is switched off', async () => {
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    deepStrictEqual(await one.store.syncPending(10), { changes: [], receipt: null, isLast: true });
    deepStrictEqual(await one.store.syncSetup(), null);
    await one.join();
    await one.sync(engine);
    await one.store.stopSync();
    await one.say(session, 'Again');
    deepStrictEqual([await one.store.syncSetup(), (await one.store.syncPending(10)).receipt], [null, null]);
    deepStrictEqual(await one.texts(session), ['Hello', 'Again']);
  });

  it('send what they held before, and go on in each other', async () => {
    const session = await one.begin('Quince');
    await one.say(session, 'Said before');
    await one.join();
    await two.join();
    deepStrictEqual(await one.sync(engine), { ...clean, pulled: 0, pushed: 3 });
    deepStrictEqual(await two.sync(engine), { ...clean, pulled: 3, pushed: 0 });
    const there = (await two.store.session(session))!;
    const here = (await one.store.session(session))!;
    const { lastOpenedAt: _, ...same } = here;
    const { lastOpenedAt: __, ...found } = there;
    deepStrictEqual(found, same);
    await two.say(session, 'Answered there');
    await meet();
    deepStrictEqual(await one.texts(session), ['Said before', 'Answered there']);
  });

  it('know what was imported for that, where each has imported the same', async () => {
    for (const device of [one, two]) {
      const session = await device.begin('Quince');
      const notice = { type: 'custom_message' as const, customType: 'notice', text: 'Do as I say.' };
      const entry = userMessage(session, null, '', { content: notice, sourceId: 'pi:s1:r1:hash/0' });
      await device.store.append(session, { entries: [entry] });
      await device.join();
    }
    await meet();
    for (const { store } of [one, two]) {
      const found: (string | null)[] = [];
      for (const { uuid } of await store.listSessions({ limit: 10 }))
        for (const { sourceId } of (await store.page(uuid, { limit: 10 })).entries) found.push(sourceId ?? null);
      deepStrictEqual([found.length, found.filter((source) => source === null)], [2, []]);
    }
  });

  it('have all of a session with a compaction, where each has imported the same', async () => {
    const sessions: string[] = [];
    for (const device of [one, two]) {
      const session = await device.begin('Quince');
      const first = await device.say(session, 'Asked', { sourceId: 'pi:s1:r1:hash/0' });
      await device.say(session, '', { content: compactionContent('pi:r2', first), sourceId: 'pi:s1:r2:hash/0' });
      await device.say(session, 'Asked again', { sourceId: 'pi:s1:r3:hash/0' });
      await device.join();
      sessions.push(session);
    }
    const branches = async ({ store }: SyncDevice) =>
      Promise.all(sessions.map(async (session) => (await store.liveBranch(session)).entries.map(({ uuid }) => uuid)));
    await meet();
    const found = await branches(one);
    deepStrictEqual([found.map(({ length }) => length), await branches(two)], [[3, 3], found]);
    // A device that begins anew reads all of it again.
    await two.store.stopSync();
    await two.join();
    await meet();
    deepStrictEqual([await branches(one), await branches(two)], [found, found]);
    for (const { store } of [one, two]) deepStrictEqual((await store.listSessions()).length, 2);
  });

  it('ask once when nothing is new, and twice for what was said', async () => {
    const session = await one.begin('Quince');
    await one.join();
    await one.say(session, 'Hello');
    await one.sync(engine);
    engine.calls.length = 0;
    await one.sync(engine);
    deepStrictEqual(engine.calls.splice(0), ['heads']);
    await one.say(session, 'Again');
    await one.sync(engine);
    deepStrictEqual(engine.calls, ['heads', 'push']);
  });

  it('ask for the keys of what was said, however many sessions there are', async () => {
    for (let n = 0; n < 30; n++) await one.say(await one.begin(`Session ${n}`), 'Something');
    const session = await one.begin('Quince');
    await one.join();
    await one.syncWhole(engine);
    await one.say(session, 'One more');
    const { syncKeys } = one.store;
    let asked = 0;
    one.store.syncKeys = async (wanted) => {
      const keys = await syncKeys(wanted);
      asked += keys.length;
      return keys;
    };
    await one.syncWhole(engine);
    deepStrictEqual(asked, 1);
  });

  it('send of a turn hardly more than its text compressed', async () => {
    const page = readFileSync(join(projectRoot, 'docs', 'architecture.md'), 'utf8');
    const session = await one.begin('Quince');
    await one.join();
    await one.sync(engine);
    const before = engine.bytes;
    const texts = [page.slice(9_000, 9_600), page.slice(10_000, 17_000)];
    for (const text of texts) await one.say(session, text);
    await one.sync(engine);
    const ratio = (engine.bytes - before) / deflateRawSync(texts.join('\n')).length;
    ok(ratio <= 1.3, `${ratio.toFixed(2)} times the compressed text`);
  });

  it('stay each on its own where both have spoken, and have both branches', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await meet();
    await one.say(session, 'Apart, here');
    await two.say(session, 'Apart, there');
    await meet();
    deepStrictEqual(
      [await one.texts(session), await two.texts(session)],
      [
        ['Hello', 'Apart, here'],
        ['Hello', 'Apart, there'],
      ],
    );
    for (const { store } of [one, two]) deepStrictEqual((await store.branches(session)).length, 2);
    const [here, there] = [(await one.store.session(session))!.leaf!, (await two.store.session(session))!.leaf!];
    const stands = async ({ store }: SyncDevice) =>
      (await store.syncElsewhere(session)).map(({ device, leaf, messages }) => ({ device, leaf, messages }));
    const deviceOf = async ({ store }: SyncDevice) => (await store.syncHeld()).device;
    deepStrictEqual(
      [await stands(one), await stands(two)],
      [[{ device: await deviceOf(two), leaf: there, messages: 1 }], [{ device: await deviceOf(one), leaf: here, messages: 1 }]],
    );
    await one.store.moveLeaf(session, there);
    deepStrictEqual(await stands(one), []);
  });

  it('follow a device that went back and said something else, where nothing was said here', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    const first = await one.say(session, 'Hello');
    await one.say(session, 'First way');
    await meet();
    await one.store.moveLeaf(session, first);
    await one.say(session, 'Second way');
    await meet();
    deepStrictEqual(await two.texts(session), ['Hello', 'Second way']);
  });

  it('agree on titles, marks, metadata and pins, the last that were set', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    const entry = await one.say(session, 'Hello');
    await meet();
    await one.store.updateSession(session, { title: 'Here', pinnedAt: 5, metadata: { tags: ['a'], mine: 1 } });
    await nextMillisecond();
    await two.store.updateSession(session, { title: 'There', archivedAt: 6, metadata: { tags: ['b'], yours: { deep: true } } });
    await one.store.savePin({ session, kind: 'entry', target: entry, contentHash: null, at: 7 });
    await meet();
    const seen = async (device: SyncDevice) => {
      const { title, pinnedAt, archivedAt, metadata } = (await device.store.session(session))!;
      return { title, pinnedAt, archivedAt, metadata, pins: await device.store.pins(session) };
    };
    const expected = {
      title: 'There',
      pinnedAt: 5,
      archivedAt: 6,
      metadata: { tags: ['b'], mine: 1, yours: { deep: true } },
      pins: [{ session, kind: 'entry', target: entry, contentHash: null, at: 7 }],
    };
    deepStrictEqual([await seen(one), await seen(two)], [expected, expected]);
    await two.store.removePin(session, 'entry', entry);
    await two.store.updateSession(session, { pinnedAt: null, metadata: { mine: null } });
    await meet();
    const after = { ...expected, pinnedAt: null, metadata: { tags: ['b'], yours: { deep: true } }, pins: [] };
    deepStrictEqual([await seen(one), await seen(two)], [after, after]);
  });

  it('purge on every device, and keep what a fork stands on', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    const shared = await one.say(session, 'Shared with a fork');
    await one.say(session, 'Only here');
    const other = await one.begin('Other');
    await one.say(other, 'Of another session');
    await meet();
    const fork = (await two.store.forkSession(shared, { uuid: testUuid(), channel: 'cli', createdAt: 2, title: 'Fork' })).uuid;
    await two.say(fork, 'In the fork');
    await one.store.updateSession(session, { deletedAt: 1 });
    await one.store.purge([session]);
    await meet();
    await meet();
    for (const device of [one, two]) {
      deepStrictEqual(
        {
          gone: await device.store.session(session),
          fork: await device.texts(fork),
          other: await device.texts(other),
          keys: (await device.store.syncKeys({ sessions: [session] })).length > 0,
        },
        { gone: undefined, fork: ['Shared with a fork', 'In the fork'], other: ['Of another session'], keys: false },
      );
    }
    const dropped = (await one.store.syncHeld()).droppedKeys;
    ok(dropped.length > 0 && dropped.every((id) => !engine.wrapped.has(id)), 'the engine has let the keys go');
    const fresh = await SyncDevice.open();
    await fresh.join();
    deepStrictEqual((await fresh.sync(engine)).problems, []);
    deepStrictEqual([await fresh.texts(fork), await fresh.store.session(session)], [['Shared with a fork', 'In the fork'], undefined]);
    await fresh.close();
  });

  it('move no leaf under a turn that runs, but after it', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await meet();
    const claim = testUuid();
    await two.store.claim(session, claim);
    await one.say(session, 'More');
    await one.sync(engine);
    await two.sync(engine);
    deepStrictEqual(await two.texts(session), ['Hello']);
    await two.store.release(session, claim);
    await two.sync(engine);
    deepStrictEqual(await two.texts(session), ['Hello', 'More']);
  });

  it('have each its own ids and keys, and find a session by those that it has elsewhere', async () => {
    const [here, there] = [await one.begin('Quince'), await two.begin('Apple')];
    await one.join();
    await two.join();
    await one.store.updateSession(here, { key: 'telegram:1' });
    await meet();
    const ids = async ({ store }: SyncDevice) => [(await store.session(here))!.id, (await store.session(there))!.id];
    const [first, second] = [await ids(one), await ids(two)];
    deepStrictEqual([first[0], first[1]], [second[1], second[0]]);
    const named = async ({ store }: SyncDevice, alias: string) => (await store.listSessions({ alias })).map(({ uuid }) => uuid);
    deepStrictEqual([await named(one, second[1]!), await named(two, first[0]!), await named(one, 'nobody')], [[there], [here], []]);
    deepStrictEqual((await one.store.listSessions({ text: second[1]! })).map(({ uuid }) => uuid).sort(), [here, there].sort());
    deepStrictEqual((await two.store.session(here))!.key, 'telegram:1');
    await two.store.updateSession(here, { key: 'telegram:2' });
    await meet();
    deepStrictEqual((await one.store.session(here))!.key, 'telegram:2');
  });

  it('cite the same entries, each by numbers of its own', async () => {
    for (let i = 0; i < 5; i++) await two.say(await two.begin(`Other ${i}`), 'Something else');
    const session = await one.begin('Quince');
    await one.join();
    await two.join();
    const cited = await one.say(session, 'The marmalade');
    const numberOf = async ({ store }: SyncDevice) => (await store.entries([cited]))[0]!.seq;
    const here = await numberOf(one);
    const summary = (number: number) => ({
      type: 'checkpoint' as const,
      summary: `Marmalade (#${number}), not #999`,
      topics: [`#${number}`],
      keyDecisions: [],
      openQuestions: [],
      tokensAtCheckpoint: 1,
      messagesAtCheckpoint: 1,
      coversThrough: cited,
    });
    const mark = await one.say(session, '', { content: summary(here), parent: cited });
    // Of a branch that was left, which what is said here does not follow.
    const left = (number: number) => ({ type: 'branch_summary' as const, text: `It began with #${number}`, branchLeaf: cited });
    const instead = await one.say(session, 'No, the quince', { parent: null });
    const merged = await one.say(session, '', { content: left(here), parent: instead });
    await meet();
    const there = await numberOf(two);
    const contents = async ({ store }: SyncDevice) => (await store.entries([mark, merged])).map(({ content }) => content);
    ok(here !== there);
    deepStrictEqual(
      [await contents(one), await contents(two)],
      [here, there].map((number) => [summary(number), left(number)]),
    );
  });

  it('keep what a newer program has written, pass it on, and read it after an update', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await one.sync(engine);
    const old = (sealer: Sealer): Sealer => ({
      mark: (before, row) => sealer.mark(before, row),
      seal: (place, change) => sealer.seal(place, change),
      addKeys: (given) => sealer.addKeys(given),
      open: (row) => (row.index === 1 ? { kind: 'newer' } : sealer.open(row)),
    });
    for (let round = 0; round < 2; round++) {
      const { problems } = await two.syncAs(engine, old);
      deepStrictEqual([problems.map(({ kind, index }) => [kind, index]), await two.texts(session)], [[['newer', 1]], []]);
    }
    const emptied = new MemoryEngine();
    await two.sync(emptied).catch(() => undefined);
    deepStrictEqual((await two.sync(engine)).problems, []);
    deepStrictEqual(await two.texts(session), ['Hello']);
    deepStrictEqual([...emptied.logs.values()].map((log) => log.size).sort(), [...engine.logs.values()].map((log) => log.size).sort());
  });

  for (const first of [28, 31, 34])
    it(`go on after a repair of every ninth page from ${first}, tell no damage, and keep deleted what was deleted`, async () => {
      await one.join();
      await two.join();
      const [session, purged] = [await one.begin('Quince'), await one.begin('Purged')];
      const said = Array.from({ length: 60 }, (_, i) => `Message ${i}: ${'of marmalade '.repeat(30)}`);
      for (const text of said.slice(0, 50)) await one.say(session, text);
      await one.say(purged, 'Away with it');
      await one.sync(engine);
      await two.sync(engine);
      for (const text of said.slice(50)) await two.say(session, text);
      await two.sync(engine);
      await one.sync(engine);
      const { device } = await one.store.syncHeld();
      const before = (await one.store.liveBranch(session)).entries;
      await one.store.updateSession(purged, { deletedAt: 1 });
      await one.store.purge([purged]);
      one = await one.reopened(async (folder) => {
        const { main } = storeFiles(folder);
        const pages = readFileSync(main);
        const spared = await rootsOf(pages, ['sync_state', 'sync_purged']);
        for (let page = first; page * newPageSize < pages.length; page += 9)
          if (!spared.has(page + 1)) pages.fill(0xa5, page * newPageSize, (page + 1) * newPageSize);
        writeFileSync(main, pages);
        await (await openHost(folder, { repair: true })).close();
      });
      deepStrictEqual([(await one.store.syncSetup())?.name, (await one.store.syncHeld()).device === device], ['main', false]);
      await meet();
      const fresh = await SyncDevice.open();
      await fresh.join();
      deepStrictEqual((await fresh.sync(engine)).problems, []);
      for (const place of [two, fresh]) deepStrictEqual([await place.texts(session), await place.store.session(purged)], [said, undefined]);
      deepStrictEqual([(await one.store.liveBranch(session)).entries, await one.store.session(purged)], [before, undefined]);
      deepStrictEqual(
        (await one.store.listSessions()).map(({ uuid }) => uuid),
        [session],
      );
      await fresh.close();
    });

  it('have what a repair has made up for again, in its place and under its number', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    for (let n = 1; n <= 20; n++) await one.say(session, `Said here ${n}`);
    await meet();
    for (let n = 21; n <= 30; n++) await two.say(session, `Said there ${n}`);
    await meet();
    const branchOf = async ({ store }: SyncDevice) => (await store.liveBranch(session)).entries;
    const before = await branchOf(one);
    const lost = '(6, 7, 8, 9, 10, 11, 12, 22, 23, 24, 29, 30)';
    one = await damaged(
      one,
      `DROP TRIGGER entries_keep; DROP TRIGGER bodies_keep;
       DELETE FROM bodies WHERE entry IN ${lost}; DELETE FROM entries WHERE seq IN ${lost}; DELETE FROM bodies WHERE entry = 15`,
    );
    // Two that others follow are stood in for.
    deepStrictEqual((await branchOf(one)).length, 20);
    await meet();
    deepStrictEqual(await branchOf(one), before);
    deepStrictEqual(await one.texts(session), await two.texts(session));
    const problems = new ProblemList();
    one = await one.reopened(async (folder) => {
      const image = (await loadSqlite(wasmFile)).openMemory(readFileSync(storeFiles(folder).main));
      const connection = new Connection(image, { file: folder, beforeCommit: () => undefined });
      verifyTree(connection, problems);
      verifyDerived(connection, problems);
      connection.close();
    });
    deepStrictEqual(problems.problems, []);
  });

  it('believe of an entry what was said, and not what a repair elsewhere has made up, whichever comes first', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    for (const text of ['First', 'Second', 'Third']) await one.say(session, text);
    const known = new MemoryEngine();
    await one.sync(known);
    await two.sync(known);
    one = await damaged(one, 'DROP TRIGGER bodies_keep; DELETE FROM bodies WHERE entry = 2');
    await one.sync(engine);
    const fresh = await SyncDevice.open();
    await fresh.join();
    await fresh.sync(engine);
    deepStrictEqual(await fresh.texts(session), ['First', 'Third']);
    await two.sync(engine);
    await meet();
    await fresh.sync(engine);
    for (const device of [one, two, fresh]) deepStrictEqual(await device.texts(session), ['First', 'Second', 'Third']);
    await fresh.close();
  });

  it('keep what was set and not sent yet over a repair, at the time at which it was set', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await meet();
    await two.store.updateSession(session, { title: 'Renamed there' });
    await two.sync(engine);
    await nextMillisecond();
    await one.store.updateSession(session, { title: 'Renamed here', costLimit: 5 });
    await one.store.savePin({ session, kind: 'text', target: 'Pin', contentHash: null, at: 1 });
    await one.store.updateSession(session, { costLimit: null });
    one = await one.reopened(async (folder) => {
      await (await openHost(folder, { repair: true })).close();
    });
    await meet();
    for (const { store } of [one, two]) {
      const { title, costLimit } = (await store.session(session))!;
      deepStrictEqual([title, costLimit, (await store.pins(session)).length], ['Renamed here', null, 1]);
    }
  });

  it('pass through a window that does not own the store, with their bytes', async () => {
    await one.join();
    await two.join();
    const session = await one.begin('Quince');
    await one.say(session, 'Hello');
    const [oneToo, twoToo] = [await one.window(), await two.window()];
    const { history, name, engine: address } = (await one.store.syncSetup())!;
    const told = new Promise((resolve) => oneToo.store.onDidChange(resolve));
    await one.store.startSync('', { history, name, engine: address });
    deepStrictEqual(await told, { kind: 'session', session: null });
    deepStrictEqual([oneToo.store.status.access, twoToo.store.status.access], ['shared', 'shared']);
    await oneToo.sync(engine);
    const { problems } = await twoToo.sync(engine);
    deepStrictEqual([problems, await two.texts(session)], [[], ['Hello']]);
    deepStrictEqual(
      await twoToo.store.syncRows(wholeLog(await one.store.syncHeld())),
      await one.store.syncRows(wholeLog(await one.store.syncHeld())),
    );
    await oneToo.close();
    await twoToo.close();
  });
});

/** Pages, numbered from 1, at which the tables begin. */
async function rootsOf(image: Buffer, tables: readonly string[]): Promise<ReadonlySet<unknown>> {
  const database = (await loadSqlite(wasmFile)).openMemory(image);
  const rows = database.exec(`SELECT rootpage FROM sqlite_master WHERE name IN ('${tables.join("', '")}')`)[0]?.values ?? [];
  database.close();
  return new Set(rows.map(([root]) => root));
}

function wholeLog({ device, logs }: Held): LogRange {
  return { device, from: 0, to: logs.find((log) => log.device === device)!.next };
}
