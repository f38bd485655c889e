import { deepStrictEqual } from 'node:assert';
import type { Change } from '../../../../src/core/sync/change';
import { MemoryEngine } from '../../../support/sync/memoryEngine';
import { SyncDevice } from '../../../support/sync/syncRig';
import { SearchStore } from '../../../support/store/searchStore';
import { tempFolder, testUuid } from '../../../support/store/storeTemp';

describe('what two devices hand on to different forks', function () {
  this.timeout(30_000);
  let engine: MemoryEngine;
  let devices: readonly [SyncDevice, SyncDevice, SyncDevice];
  beforeEach(async () => {
    engine = new MemoryEngine();
    devices = [await SyncDevice.open(), await SyncDevice.open(), await SyncDevice.open()];
    for (const device of devices) await device.join();
  });
  afterEach(async () => {
    for (const device of devices) await device.close();
  });

  const meet = async () => {
    for (let round = 0; round < 3; round++) for (const device of devices) deepStrictEqual((await device.sync(engine)).problems, []);
  };
  it('belongs to the oldest of them everywhere, and counts there', async () => {
    const [one, two, three] = devices;
    const session = await one.begin('Quince');
    const shared = await one.say(session, 'Shared');
    await meet();
    // Each forks without knowing of the other, and the session is purged by a device that knows of neither.
    const fork = async ({ store }: SyncDevice, createdAt: number) =>
      (await store.forkSession(shared, { uuid: testUuid(), channel: 'cli', createdAt })).uuid;
    const [older, younger] = [await fork(three, 1_763_900_000_000), await fork(two, 1_763_900_001_000)];
    await three.say(older, 'Older');
    await two.say(younger, 'Younger');
    await one.store.updateSession(session, { deletedAt: 1 });
    await one.store.purge([session]);
    await one.sync(engine);
    await meet();
    const seen = await Promise.all(
      devices.map(async ({ store }) => {
        const [entry] = await store.entries([shared]);
        const [first, second] = [await store.session(older), await store.session(younger)];
        return [entry?.session, first?.messageCount, first?.totalTokens, second?.messageCount, second?.totalTokens];
      }),
    );
    const expected = [older, 2, 6, 1, 3];
    deepStrictEqual(seen, [expected, expected, expected]);
  });

  it('is found in the fork that it belongs to', async () => {
    const temp = tempFolder();
    const store = await SearchStore.open(temp.path);
    store.core.startSync('here', { history: 'h', name: 'main', engine: 'memory' });
    const [younger, older] = [store.session(testUuid()), testUuid()];
    const uuid = store.say(younger, 'marmalade');
    store.index();
    const { session: _, ...entry } = store.core.entries([uuid])[0]!;
    const changes: readonly Change[] = [
      { kind: 'session', session: older, id: '20250101_001', key: 'k', cwd: null, createdAt: 1, parentSession: null, forkEntry: null },
      { kind: 'entries', session: older, entries: [entry], usage: [] },
    ];
    const received = changes.map((change, index) => {
      const row = { device: 'there', index, id: `${index}`, version: 1, mark: index, sealed: Buffer.from('sealed') };
      return { row, change };
    });
    store.core.syncReceive(received, []);
    deepStrictEqual(store.texts('marmalade', { session: older }), ['marmalade']);
    store.index();
    deepStrictEqual(store.texts('marmalade', { session: older }), ['marmalade']);
    store.database.close();
    temp.remove();
  });
});
