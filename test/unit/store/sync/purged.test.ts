import { deepStrictEqual } from 'node:assert';
import { importExport } from '../../../../src/node/transfer/import/importExport';
import { exportedText } from '../../../support/chat/exportedText';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { SyncDevice } from '../../../support/sync/syncRig';

describe('a session that was deleted for good', function () {
  this.timeout(30_000);
  let engine: MemoryEngine;
  let one: SyncDevice;
  let two: SyncDevice;
  let session: string;
  let exported: string;
  beforeEach(async () => {
    engine = new MemoryEngine();
    [one, two] = [await SyncDevice.open(), await SyncDevice.open()];
    await one.join();
    session = await one.begin('Quince');
    await one.say(session, 'Hello');
    await one.sync(engine);
    exported = await exportedText(one.store, [session]);
  });
  afterEach(async () => {
    for (const device of [one, two]) await device.close();
  });

  const purge = async () => {
    await one.store.updateSession(session, { deletedAt: 1 });
    await one.store.purge([session]);
    await one.sync(engine);
  };
  const bring = async ({ store }: SyncDevice) => {
    const done: { readonly uuid: string; readonly outcome: string; readonly added: number }[] = [];
    for await (const { uuid, outcome, entriesAdded: added } of importExport(store, exported, { source: 'a' }))
      done.push({ uuid, outcome, added });
    return done[0]!;
  };
  /** Titles, what is said, and whether it is in the trash. */
  const seen = async (device: SyncDevice) => {
    const sessions = [...(await device.store.listSessions({})), ...(await device.store.listSessions({ trashed: true }))];
    return Promise.all(
      sessions.map(async ({ uuid, title, deletedAt }) => ({ uuid, title, trashed: deletedAt !== null, said: await device.texts(uuid) })),
    );
  };
  const meet = async () => {
    for (let round = 0; round < 2; round++) for (const device of [one, two]) deepStrictEqual((await device.sync(engine)).problems, []);
  };

  it('is told to the others under another name when it is imported again, once', async () => {
    await two.join();
    await purge();
    await meet();
    const { uuid, ...first } = await bring(one);
    await one.say(uuid, 'Gone on');
    const again = await bring(one);
    await meet();
    deepStrictEqual(
      { first, again, isSame: uuid === session },
      { first: { outcome: 'new', added: 1 }, again: { uuid, outcome: 'known', added: 0 }, isSame: false },
    );
    const expected = [{ uuid, title: 'Quince', trashed: false, said: ['Hello', 'Gone on'] }];
    deepStrictEqual([await seen(one), await seen(two), (await bring(two)).outcome], [expected, expected, 'known']);
    // A device that sets sync up anew hears of the deletion once more.
    await one.store.stopSync();
    await one.join();
    await meet();
    deepStrictEqual([await seen(one), await seen(two)], [expected, expected]);
  });

  it('keeps all branches under its other name on a device that hears of that before the deletion', async () => {
    const first = (await one.store.session(session))!.leaf;
    for (const text of ['One branch', 'Another branch']) await one.say(session, text, { parent: first });
    exported = await exportedText(one.store, [session]);
    const three = await SyncDevice.open();
    for (const device of [two, three]) await device.join();
    await meet();
    await three.sync(engine);
    await purge();
    await two.sync(engine);
    const { uuid } = await bring(two);
    await two.sync(engine);
    // The log that has the deletion comes last.
    const [[log, rows]] = [...engine.logs] as [[string, Parameters<typeof engine.logs.set>[1]]];
    engine.logs.delete(log);
    engine.logs.set(log, rows);
    await three.sync(engine);
    const count = async ({ store }: SyncDevice) => ({
      messages: (await store.session(uuid))?.messageCount,
      entries: (await store.entrySeqs(uuid)).length,
    });
    deepStrictEqual(
      [await count(two), await count(three), await seen(three)],
      [{ messages: 3, entries: 3 }, { messages: 3, entries: 3 }, await seen(two)],
    );
    await three.close();
  });

  it('is gone as well from a device that had left the history meanwhile, and joins it again', async () => {
    await two.join();
    await meet();
    await two.store.stopSync();
    await two.say(session, 'Gone on');
    await purge();
    await two.join();
    await meet();
    deepStrictEqual([await seen(one), await seen(two)], [[], []]);
  });
});
